/** A real terminal: a window of tmux, with a server of its own. */
import { spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { until, type Stage } from '../behaviour/stage.js'

export interface Terminal {
  /** Text of the screen. */
  screen(): string
  /** The same, with escapes for colours and marks. */
  painted(): string
  /** The same, with the lines that scrolled out: when the program ends, the screen scrolls by a line. */
  history(): string
  /** Resolves with the screen once it matches. */
  shows(what: string | RegExp): Promise<string>
  /** Keys by tmux's names: `Enter`, `C-s`, `F5`. */
  press(...keys: readonly string[]): void
  /** Types characters literally. */
  type(text: string): void
  resize(columns: number, rows: number): void
  /** Resolves when the program has ended. */
  readonly ended: () => Promise<void>
  /** Pid of the program. */
  pid(): number
  close(): void
}

/** Why terminals cannot be used here; undefined if they can. */
export const noTerminal: string | undefined =
  spawnSync('tmux', ['-V']).status === 0 ? undefined : 'tmux is not installed (apt-get install tmux)'

/** Runs a command in a window. */
export function openTerminal(
  stage: Stage,
  argv: readonly string[],
  options: { readonly columns?: number; readonly rows?: number; readonly env?: NodeJS.ProcessEnv } = {},
): Terminal {
  const { columns = 100, rows = 30 } = options
  const socket = `wiretape-test-${randomUUID()}`
  const env = { ...stage.env, LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', ...options.env }
  const command = argv.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')
  const tmux = (...args: readonly string[]): string => {
    const done = spawnSync('tmux', ['-L', socket, '-f', '/dev/null', ...args], { env, encoding: 'utf8' })
    return done.stdout
  }
  const size = ['-x', String(columns), '-y', String(rows)]
  const settings = 'set-option -g status off ; set-option -g remain-on-exit on'.split(' ')
  tmux('new-session', '-d', '-s', 'main', ...size, `exec ${command}`, ';', ...settings)
  const screen = (): string => tmux('capture-pane', '-p', '-t', 'main')
  return {
    screen,
    painted: () => tmux('capture-pane', '-p', '-e', '-t', 'main'),
    history: () => tmux('capture-pane', '-p', '-S', '-', '-t', 'main'),
    async shows(what) {
      let seen = ''
      const isThere = (): boolean => {
        seen = screen()
        return typeof what === 'string' ? seen.includes(what) : what.test(seen)
      }
      await until(`the screen shows ${what}`, isThere, 30_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; it shows:\n${seen}`, { cause: error })
      })
      return seen
    },
    press: (...keys) => void tmux('send-keys', '-t', 'main', ...keys),
    type: (text) => void tmux('send-keys', '-t', 'main', '-l', text),
    resize: (width, height) =>
      void tmux('resize-window', '-t', 'main', '-x', String(width), '-y', String(height)),
    ended: async () => {
      const isDead = (): boolean => tmux('display-message', '-p', '-t', 'main', '#{pane_dead}').trim() === '1'
      await until('the terminal is left', isDead, 30_000).catch((error: unknown) => {
        throw new Error(`${String(error)}; it shows:\n${screen()}`, { cause: error })
      })
    },
    pid: () => Number(tmux('display-message', '-p', '-t', 'main', '#{pane_pid}')),
    close: () => void tmux('kill-server'),
  }
}
