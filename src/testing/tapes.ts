import { execFile } from 'node:child_process'
import { createReadStream, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { mkdir, readdir, rename, rm, rmdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { closedTape, ownProgram } from '../capture/index.js'
import { isCommandLine, WiretapeError } from '../model/index.js'
import { replaceFile } from '../tape/index.js'

/**
 * When the server is used instead of the cassette: `none` never; `once` if there is no cassette; `new` for requests that
 * the cassette does not have; `all` for every request, and the cassette is replaced.
 */
export type CassetteMode = 'none' | 'once' | 'new' | 'all'
const modes: readonly string[] = ['none', 'once', 'new', 'all'] satisfies CassetteMode[]

export interface TestTapesOptions {
  /** Folder of the files kept if this test fails. Files of earlier runs are removed. */
  readonly results: string
  /** Folder of the cassettes. */
  readonly cassettes: string
  /** Mode of cassettes that set none. @default 'once' */
  readonly mode?: string | undefined
  /** Whether no cassette may be recorded, as in CI. @default false */
  readonly isReadOnly?: boolean
}

/** Command for a stdio client: parameters of a StdioClientTransport. */
export interface ServerCommand {
  readonly command: string
  readonly args: string[]
}

/** A recorded server of a test. */
interface Recorded {
  /** Folder of its tape. */
  readonly folder: string
  /** Cassette that the tape becomes if the test passes. */
  readonly becomes?: string
  /** Copy of a cassette with new exchanges, and that cassette. */
  readonly copy?: { readonly from: string; readonly to: string }
}

const longestWaitMs = 5_000

/** Tapes of one test: recorded while it runs, kept only if it fails. */
export class TestTapes {
  readonly #options: TestTapesOptions
  readonly #recorded: Recorded[] = []

  /** @throws WiretapeError `usage` for a mode that does not exist */
  constructor(options: TestTapesOptions) {
    this.#options = options
    if (options.mode !== undefined) checkMode(options.mode)
    rmSync(options.results, { recursive: true, force: true })
  }

  /**
   * Puts a recorder before a server: `new StdioClientTransport(tapes.server(['node', 'server.js']))`.
   *
   * @throws WiretapeError `usage` if `command` is not a list of strings
   */
  server(command: readonly string[]): ServerCommand {
    checkCommand(command)
    return this.#record(command)
  }

  /**
   * The server mocked from its cassette, or the server itself while the cassette is recorded. The cassette is written
   * once the test has passed.
   *
   * @param name file name without `.jsonl`
   * @throws WiretapeError `usage` for a wrong name or mode, and if the server would be recorded but must not be
   */
  cassette(
    name: string,
    command: readonly string[],
    options: { readonly mode?: CassetteMode } = {},
  ): ServerCommand {
    checkCommand(command)
    if (!/^\w[\w.-]*$/.test(name))
      throw new WiretapeError('usage', `${JSON.stringify(name)} is not a valid cassette name`, {
        hint: 'use letters, digits, - and _',
      })
    const asked = checkMode(options.mode ?? this.#options.mode ?? 'once')
    const mode = asked === 'new' && this.#options.isReadOnly ? 'none' : asked
    const file = resolve(this.#options.cassettes, `${name}.jsonl`)
    const exists = existsSync(file)
    if (mode === 'all' || !exists) {
      this.#checkRecording(mode, file)
      return this.#record(command, { becomes: file })
    }
    const mock = [process.execPath, ownProgram(), 'mock', '--quiet', file]
    if (mode !== 'new') return this.#record(mock)
    const folder = this.#folder()
    const copy = join(folder, 'copy', `${name}.jsonl`)
    mkdirSync(dirname(copy))
    const fallback = ['--fallback', '--record', 'new', '--out', copy, '--', ...command]
    return this.#record([...mock, ...fallback], { folder, copy: { from: copy, to: file } })
  }

  /**
   * Ends the test: writes its cassettes if it passed; keeps its tapes with a readable report if it failed.
   *
   * @returns paths of the files kept
   * @throws WiretapeError `not-a-recording` if a cassette cannot be written because its client is still connected
   */
  async finish(hasFailed: boolean): Promise<string[]> {
    const recorded = this.#recorded.splice(0)
    if (hasFailed) {
      const kept = await Promise.all(recorded.map(({ folder }) => reportOf(folder)))
      return kept.flat()
    }
    try {
      for (const { folder, becomes, copy } of recorded) {
        // A recorder reports an error if its tape is deleted while it writes.
        const tape = await closedTape(folder, longestWaitMs).catch((error: unknown) => {
          if (becomes !== undefined) throw error
        })
        if (becomes !== undefined && tape !== undefined) {
          await mkdir(dirname(becomes), { recursive: true })
          await replaceFile(becomes, createReadStream(tape))
        }
        if (copy && existsSync(copy.from)) await rename(copy.from, copy.to)
      }
    } finally {
      await rm(this.#options.results, { recursive: true, force: true })
      // Remove the folder if it is empty; results of other tests stay.
      await rmdir(dirname(this.#options.results)).catch(() => undefined)
    }
    return []
  }

  #checkRecording(mode: CassetteMode, file: string): void {
    if (this.#options.isReadOnly)
      throw new WiretapeError('usage', `cassette ${file} would be recorded, which is not allowed in CI`, {
        hint: 'run the test on your own machine and commit the cassette',
      })
    if (mode === 'none')
      throw new WiretapeError('usage', `cassette ${file} does not exist, and mode none does not record`, {
        hint: 'run the test once with mode once',
      })
  }

  /** A new folder for one server of the test. */
  #folder(): string {
    mkdirSync(this.#options.results, { recursive: true })
    return mkdtempSync(join(this.#options.results, `${this.#recorded.length + 1}-`))
  }

  #record(command: readonly string[], rest: Partial<Recorded> = {}): ServerCommand {
    const folder = rest.folder ?? this.#folder()
    this.#recorded.push({ ...rest, folder })
    return {
      command: process.execPath,
      args: [ownProgram(), 'record', '--quiet', '--out', folder, '--', ...command],
    }
  }
}

/** Tapes of a folder, each with an HTML report beside it. */
async function reportOf(folder: string): Promise<string[]> {
  // The client of a failed test may still be connected: keep the tape so far.
  await closedTape(folder, longestWaitMs / 5).catch(() => undefined)
  const tapes = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
  const kept: string[] = []
  for (const name of tapes) {
    const tape = join(folder, name)
    const report = tape.replace(/\.jsonl$/, '.html')
    const isWritten = await convert(tape, report)
    kept.push(...(isWritten ? [report] : []), tape)
  }
  return kept
}

function convert(tape: string, report: string): Promise<boolean> {
  return new Promise((done) => {
    execFile(process.execPath, [ownProgram(), 'convert', tape, report], (error) => done(error === null))
  })
}

function checkMode(mode: string): CassetteMode {
  if (modes.includes(mode)) return mode as CassetteMode
  throw new WiretapeError('usage', `${JSON.stringify(mode)} is not a cassette mode`, {
    hint: `use ${modes.join(', ')}`,
  })
}

function checkCommand(command: unknown): void {
  if (isCommandLine(command)) return
  throw new WiretapeError('usage', 'the command of a server must be a list of strings', {
    hint: "write ['node', 'server.js']",
  })
}
