/** The home folder of a user with MCP clients, and a project in it. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { plainEnv, wiretape, type Run } from '../behaviour/run-cli.js'
import { server } from '../behaviour/stage.js'

const [command, ...args] = server('mini-mcp.mjs')
/** The entry of mini-mcp in a client's configuration. */
export const mini = { command: command!, args }

/** @param prefix of the folder's name */
export function useHome(prefix = 'wiretape-home-') {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), prefix))
    mkdirSync(join(folder, 'project'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))
  const home = (): string => folder

  /** Writes a file, and returns its text. */
  function put(path: string, value: unknown): string {
    const file = join(folder, path)
    mkdirSync(dirname(file), { recursive: true })
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2)
    writeFileSync(file, text)
    return text
  }

  const get = (path: string): string => readFileSync(join(folder, path), 'utf8')

  function env(): NodeJS.ProcessEnv {
    const { XDG_CONFIG_HOME: _config, XDG_DATA_HOME: _data, CLAUDE_CONFIG_DIR: _claude, ...rest } = plainEnv()
    return { ...rest, HOME: folder }
  }

  /** Runs a command in a folder of the home folder. */
  function cliIn(place: string, ...words: string[]): Promise<Run> {
    return wiretape(words, { cwd: join(folder, place), env: env() })
  }

  return { home, put, get, env, cliIn }
}
