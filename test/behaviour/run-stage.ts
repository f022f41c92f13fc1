/** Files of calls, run. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { server, useStage } from './stage.js'

/** Longer than the longest pattern. */
export const secret = `open "sesame"${' +/-=x'.repeat(100)}`
export const varying = server('varying-mcp.mjs')

export const price = { tool: 'price' }
export const text = '$.result.content[0].text'

export function useCallFiles() {
  const stage = useStage()

  const here = (...args: string[]): Promise<Run> =>
    wiretape(args, { cwd: stage.folder, env: plainEnv({ ...stage.env, SHOP_TOKEN: secret }) })
  /** Writes a file of calls to varying-mcp.mjs, or to the server that the content names. */
  function save(file: string, content: object): void {
    const path = stage.path(join('calls', file))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, stringify({ server: { command: varying }, ...content }))
  }

  return { stage, here, save }
}
