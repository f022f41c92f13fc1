/** Recordings of secrets. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { useStage } from './stage.js'

/** Built here, so that no scanner takes them for real secrets. */
export const secrets = {
  password: 'correct horse battery staple',
  aws: 'AKIA'.concat('QWERTYUIOPASDFGH'),
  github: 'ghp_'.concat('0123456789abcdefghijklmnopqrstuvwxyz'),
  slack: 'xoxb-'.concat('123456789012-abcdefghijklmnopqrstuvwx'),
  stripe: 'sk_live_'.concat('4eC39HqLyjWDarjtT1zdp7dc'),
  openai: 'sk-'.concat('proj-abcdefghijklmnopqrstuvwxyz0123456789'),
  jwt: [
    'eyJhbGciOiJIUzI1NiJ9',
    'eyJzdWIiOiIxMjM0NTY3ODkwIn0',
    'dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U',
  ].join('.'),
  bearer: 'mF_9.B5f-4.1JqM',
  url: 'pa55w0rd-in-a-url',
}

export const message = (params: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

export function useRedaction() {
  const stage = useStage()

  function record(options: readonly string[], command: readonly string[], input = ''): Promise<Run> {
    const args = ['record', '--out', stage.out, ...options, '--', ...command]
    return wiretape(args, { cwd: stage.folder, env: plainEnv(stage.env), input })
  }

  /** Names and contents of all written files. */
  function written(folder = stage.folder): string {
    return readdirSync(folder)
      .map((name) => {
        const path = join(folder, name)
        return `${path}\n${statSync(path).isDirectory() ? written(path) : readFileSync(path, 'latin1')}`
      })
      .join('\n')
  }

  return { stage, record, written }
}
