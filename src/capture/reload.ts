import type { FSWatcher } from 'chokidar'
import { statSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { RestartFacts } from '../model/index.js'
import {
  startReloadable,
  within,
  type NotStarted,
  type ReloadableServer,
  type Restart,
  type ServerProcess,
  type StartServerOptions,
} from '../transports/index.js'

/** How a server's process is replaced while its client stays connected. */
export interface ReloadSettings {
  /** Glob patterns of files; a change in one restarts the server. Relative to `cwd`. */
  readonly watch: readonly string[]
  readonly cwd: string
  /** Folder of the tapes, whose growth is not a change of the server. */
  readonly tapes: string
  /** How long a client waits for a server that does not start. */
  readonly timeoutMs: number
  /** Rejects a new process that does not offer what the client already knows. */
  readonly strict: boolean
}

export interface ReloadsObserver {
  /** Writes to the tape. */
  note(text: string, restart?: RestartFacts): void
  /** Informs people, in one line. */
  notice(line: string): void
  /** Sends the client a message in place of the server; absent if the client does not read its stdout. */
  readonly say?: (text: string) => Promise<void>
}

/** Time limit for the end of a process. */
const endMs = 5_000
/** Editors write a file in several steps, and several files at once. */
const settleMs = 100
/** Clock lag of file systems' timestamps. */
const clockMs = 20
/** Folders that are not edited by hand; ignored unless a pattern names them. */
const usuallyIgnored = /(^|\/)(node_modules|\.git)(\/|$)/

/** The servers of one capture, restarted on request or when a file changes. */
export class Reloads {
  readonly #settings: ReloadSettings
  readonly #observer: ReloadsObserver
  readonly #servers = new Set<ReloadableServer>()
  #watcher: FSWatcher | undefined
  #timer: NodeJS.Timeout | undefined
  readonly #startedMs = Date.now()

  constructor(settings: ReloadSettings, observer: ReloadsObserver) {
    this.#settings = settings
    this.#observer = observer
  }

  /** Like `startServer`. */
  async start(
    command: readonly string[],
    options: StartServerOptions = {},
  ): Promise<ServerProcess | NotStarted> {
    const { timeoutMs, strict, watch } = this.#settings
    const { say } = this.#observer
    const server = await startReloadable(command, {
      ...options,
      timeoutMs,
      strict,
      survives: watch.length > 0,
      onRestart: (what) => this.#tell(wordsOf(what), factsOf(what)),
      onNotice: (line) => this.#tell(line),
      ...(say && { say }),
    })
    if ('error' in server) return server
    this.#servers.add(server)
    void server.exited.then(() => this.#servers.delete(server))
    return server
  }

  /**
   * Restarts every server.
   *
   * @returns number of servers
   * @throws Error with a sentence for a person when one does not start
   */
  async reload(): Promise<number> {
    const servers = [...this.#servers]
    const all = Promise.allSettled(servers.map((server) => server.reload()))
    const { timeoutMs } = this.#settings
    const failed = (await within(all, timeoutMs + endMs))
      ? (await all).find((one) => one.status === 'rejected')
      : { reason: new Error(`the server did not start within ${timeoutMs / 1000} s; it may still start`) }
    if (!failed) return servers.length
    this.#tell((failed.reason as Error).message)
    throw failed.reason
  }

  /** Begins to watch files. Never rejects. */
  async watch(): Promise<void> {
    const { watch, cwd } = this.#settings
    if (watch.length === 0) return
    try {
      const [{ watch: watchFiles }, { default: picomatch }] = await Promise.all([
        import('chokidar'),
        import('picomatch'),
      ])
      const read = watch.map((pattern) => placeOf(picomatch.scan(pattern), cwd))
      const globsOf = (negated: boolean): string[] =>
        read.filter((one) => one.negated === negated).map(({ glob }) => glob)
      const isMeant = picomatch(globsOf(false), { dot: true, ignore: globsOf(true) })
      const folders = read.filter(({ negated }) => !negated).map(({ folder }) => folder)
      const wantsIgnored = watch.some((pattern) => usuallyIgnored.test(pattern))
      const nameOf = (path: string): string => relative(cwd, path).split(sep).join('/')
      this.#watcher = watchFiles(folders, {
        cwd,
        ignoreInitial: true,
        ignored: (path) => !wantsIgnored && usuallyIgnored.test(nameOf(path)),
      })
      const take = (path: string): void => {
        const whole = resolve(cwd, path)
        if (isMeant(posix(whole)) && !this.#isOwn(whole)) this.#soon(path)
      }
      this.#watcher.on('all', (_event, path) => take(path))
      this.#watcher.on('ready', () => this.#changedBefore().forEach(take))
      this.#watcher.on('error', (error) => this.#observer.notice(`cannot watch files: ${String(error)}`))
    } catch (error) {
      this.#observer.notice(`cannot watch files: ${String(error)}`)
    }
  }

  #isOwn(path: string): boolean {
    return (
      dirname(path) === this.#settings.tapes && /\.(?:jsonl(?:\.\d+)?|session\.json(?:\.bak)?)$/.test(path)
    )
  }

  /** Files that changed after the server may have read them and before watching began. */
  #changedBefore(): string[] {
    const { cwd } = this.#settings
    const folders = Object.entries(this.#watcher?.getWatched() ?? {})
    const paths = folders.flatMap(([folder, names]) => names.map((name) => join(folder, name)))
    return paths.filter((path) => {
      const found = statSync(resolve(cwd, path), { throwIfNoEntry: false })
      return found?.isFile() === true && found.mtimeMs >= this.#startedMs - clockMs
    })
  }

  #soon(path: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#tell(`${path} changed: restarting the server`)
      this.reload().catch(() => undefined)
    }, settleMs)
  }

  #tell(line: string, restart?: RestartFacts): void {
    this.#observer.note(line, restart)
    this.#observer.notice(line)
  }

  close(): void {
    clearTimeout(this.#timer)
    void this.#watcher?.close()
  }
}

const posix = (path: string): string => path.split(sep).join('/')

/** A pattern converted to absolute paths; a folder stands for all its contents. */
function placeOf(
  { base, glob, negated }: { readonly base: string; readonly glob: string; readonly negated: boolean },
  cwd: string,
): { readonly folder: string; readonly glob: string; readonly negated: boolean } {
  const folder = resolve(cwd, base)
  const isFolder = glob === '' && statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  const rest = isFolder ? '**' : glob
  // Special characters in folder names are literal.
  const plain = posix(folder).replaceAll(/[\\*?[\]{}()!+@]/g, '\\$&')
  return { folder, negated, glob: rest === '' ? plain : `${plain.replace(/\/$/, '')}/${rest}` }
}

function factsOf({ before, tookMs, unanswered, changed, misfits }: Restart): RestartFacts {
  return { exitCode: before.exitCode, tookMs, unanswered, changed, fits: misfits.length === 0 }
}

function wordsOf({ before, tookMs, unanswered, changed, misfits }: Restart): string {
  const ended = before.signal ?? `exit ${before.exitCode}`
  return [
    `the server restarted in ${(tookMs / 1000).toFixed(2)} s (old process: ${ended})`,
    ...(unanswered === 0
      ? []
      : [unanswered === 1 ? '1 request got an error' : `${unanswered} requests got an error`]),
    ...(changed.length === 0 ? [] : [`changed: ${changed.join(', ')}`]),
    ...misfits.map((one) => `the client still has the old value: ${one}`),
  ].join('; ')
}
