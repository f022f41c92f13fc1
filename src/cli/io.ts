import fs from 'node:fs'
import { isatty } from 'node:tty'
import { WiretapeError } from '../model/index.js'
import { dataFolder } from './data-folder.js'

/** A command's whole outside world. */
export interface Io {
  readonly cwd: string
  /** Folder of the user's recordings and of the registry. */
  readonly dataFolder: string
  /** Cells in a line of the terminal, or undefined when stdout is none. */
  readonly columns: number | undefined
  readonly colours: boolean
  /**
   * Collects; what is collected goes out in large pieces and when the command ends. Waits while the reader is
   * slow. Resolves to false when nobody reads any more.
   */
  write(text: string): Promise<boolean>
  /** One `wiretape: …` line on stderr, after what was written so far; control characters are escaped. */
  complain(message: string, hint?: string): Promise<void>
  /** Writes what is collected. Returns why stdout did not take it, unless its reader just went away. */
  close(): Promise<Error | undefined>
}

/** Characters that are collected before a write. */
const batchLength = 1 << 16

export function createIo(): Io {
  const output = createOutput()
  let collected = ''
  function flush(): Promise<boolean> {
    const text = collected
    collected = ''
    return output.write(text)
  }
  return {
    cwd: workingFolder(),
    dataFolder: dataFolder(process.env),
    get columns() {
      return terminalColumns()
    },
    colours: wantsColour(isatty(1)),
    async write(text) {
      collected += text
      return collected.length < batchLength ? !output.gone() : flush()
    },
    async complain(message, hint) {
      const { escapeText } = await import('../render/index.js')
      await flush()
      say(`wiretape: ${escapeText(message)}${hint === undefined ? '' : ` (${escapeText(hint)})`}\n`)
    },
    async close() {
      await flush()
      return output.failure()
    },
  }
}

/** Stdout, not touched before something is written: while recording it belongs to the server. */
function createOutput(): {
  write(text: string): Promise<boolean>
  gone(): boolean
  failure(): Error | undefined
} {
  let stdout: NodeJS.WriteStream | undefined
  let gone = false
  let failure: Error | undefined
  return {
    async write(text) {
      if (gone || text === '') return !gone
      stdout ??= process.stdout.on('error', (error: NodeJS.ErrnoException) => {
        // `wiretape inspect x | head` is no failure.
        if (error.code !== 'EPIPE' && !gone) failure = error
        gone = true
      })
      const to = stdout
      await new Promise((resolve) => to.write(text, resolve))
      return !gone
    },
    gone: () => gone,
    failure: () => failure,
  }
}

function terminalColumns(): number | undefined {
  if (!isatty(1)) return undefined
  const columns = process.stdout.columns
  return columns > 0 ? columns : undefined
}

/** Synchronous, so that it is out before the process ends; what stderr does not take is nobody's to read. */
function say(line: string): void {
  try {
    fs.writeSync(2, line)
  } catch {
    // A full pipe or a closed one.
  }
}

/** True when stderr is a terminal: a person looks at it. */
export function hasAudience(): boolean {
  return isatty(2)
}

/** https://no-color.org and the FORCE_COLOR of Node itself. */
/** Node cannot start a thread in a folder that was deleted, so there is nothing we could do in it. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch (cause) {
    const hint = 'start wiretape in one that exists'
    throw new WiretapeError('usage', 'the working folder was deleted', { hint, cause })
  }
}

function wantsColour(isTerminal: boolean): boolean {
  const { NO_COLOR, FORCE_COLOR, TERM } = process.env
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '') return FORCE_COLOR !== '0'
  return isTerminal && (NO_COLOR === undefined || NO_COLOR === '') && TERM !== 'dumb'
}
