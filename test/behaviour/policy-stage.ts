/** Recordings under a policy, in a home folder of their own. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { plainEnv, wiretape, type Run } from './run-cli.js'

export const secret = 'sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnop'
export const input = `{"jsonrpc":"2.0","id":1,"method":"x","params":{"token":"${secret}","note":"ACME-123"}}\n`

export function usePolicy() {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-policy-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const home = (): string => folder

  function env(policy: string): NodeJS.ProcessEnv {
    const path = join(home(), 'policy.yaml')
    writeFileSync(path, policy)
    return plainEnv({ XDG_DATA_HOME: home(), WIRETAPE_POLICY: path })
  }

  function record(policy: string, ...options: string[]): Promise<Run> {
    return wiretape(['record', ...options, '--', 'cat'], { env: env(policy), input })
  }

  function tapes(): string[] {
    const recordings = join(home(), 'wiretape/recordings')
    try {
      return readdirSync(recordings)
        .filter((name) => name.endsWith('.jsonl'))
        .map((name) => readFileSync(join(recordings, name), 'utf8'))
    } catch {
      return []
    }
  }

  return { home, env, record, tapes }
}
