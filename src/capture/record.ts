import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { setTimeout } from 'node:timers/promises'
import {
  checkPath,
  checkShapes,
  isCommandLine,
  isText,
  isTexts,
  WiretapeError,
  type OptionShape,
} from '../model/index.js'
import { listTapes } from '../tape/index.js'

/** The server to record, and the tape. */
export type LibraryRecordOptions = (
  | {
      /** The server and its arguments. */
      readonly command: readonly string[]
    }
  | {
      /** The URL of a running Streamable HTTP server. */
      readonly url: string
    }
) & {
  /** Path of the tape. An existing file is replaced when the recording is closed. */
  readonly file: string
  /** More options of `wiretape record`, such as `['--redact', 'acct-[0-9]+']`. */
  readonly options?: readonly string[]
}

/** A recorder between a client and its server. */
export interface Recorder {
  /** The command that a stdio client starts instead of the server. */
  readonly server: { readonly command: string; readonly args: string[] }
  /** URL for an HTTP client; undefined for a command. */
  readonly url: string | undefined
  /**
   * Waits for the end of the recording and moves the tape to its place. Close the client first. Can be called twice.
   *
   * @returns path of the tape
   * @throws WiretapeError `not-a-recording` for no recorded client, several, or one still connected after 15 s
   */
  close(): Promise<string>
}

const longestWaitMs = 15_000
const pollMs = 20

/**
 * Records the messages between a client and a server to a tape.
 *
 * ```ts
 * const recorder = await record({ command: ['node', 'server.js'], file: 'baseline.jsonl' })
 * await client.connect(new StdioClientTransport(recorder.server))
 * // …
 * await client.close()
 * await recorder.close()
 * ```
 *
 * @throws WiretapeError `unwritable`; `usage` for invalid options, and when the recorder of a URL does not start
 */
export async function record(what: LibraryRecordOptions): Promise<Recorder> {
  checkWhat(what)
  const file = resolve(what.file)
  await mkdir(dirname(file), { recursive: true })
  // In the tape's own folder, so that the tape can be renamed.
  const folder = mkdtempSync(join(dirname(file), `.${basename(file)}.recording-`))
  const own = [ownProgram(), 'record', '--quiet', '--out', folder, ...(what.options ?? [])]
  const isCommand = 'command' in what && what.command !== undefined
  const args = isCommand ? [...own, '--', ...what.command] : [...own, '--url', (what as { url: string }).url]
  const started = isCommand ? undefined : await startRecorder(args, folder)

  async function finish(): Promise<string> {
    try {
      if (started) {
        started.child.kill('SIGTERM')
        await started.exited
      }
      await rename(await closedTape(folder), file)
      return file
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  let closed: Promise<string> | undefined
  return {
    server: { command: process.execPath, args },
    url: started?.url,
    close: () => (closed ??= finish()),
  }
}

const shapes: Readonly<Record<'command' | 'url' | 'file' | 'options', OptionShape>> = {
  command: [isCommandLine, "use a list of strings, such as ['node', 'server.js']"],
  url: [
    (value) => isText(value) && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
    'use the http or https URL of a server',
  ],
  file: [(value) => isText(value) && value !== '', 'use the path of the tape'],
  options: [isTexts, "use a list of strings, such as ['--redact', 'acct-[0-9]+']"],
}

function checkWhat(what: LibraryRecordOptions): void {
  checkShapes('option', what, shapes)
  const { command, url, file }: { command?: unknown; url?: unknown; file?: unknown } = what
  if ((command === undefined) === (url === undefined))
    throw new WiretapeError('usage', 'exactly one of the options command and url is needed', {
      hint: "use command: ['node', 'server.js'] or url: 'http://…'",
    })
  checkPath('option file', file)
}

/** The program installed with the library. */
export function ownProgram(): string {
  return join(dirname(fileURLToPath(new URL('../../package.json', import.meta.url))), 'dist/bin/wiretape.js')
}

/** An HTTP recorder, and the URL that it prints first. */
async function startRecorder(
  args: readonly string[],
  folder: string,
): Promise<{ child: ChildProcess; url: string; exited: Promise<void> }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  let complaint = ''
  child.stderr.on(
    'data',
    (chunk: Buffer) => void (complaint = (complaint + chunk.toString('utf8')).slice(-1_000)),
  )
  const exited = new Promise<void>((done) => child.once('close', () => done()))
  const lines = createInterface(child.stdout)
  const url = await Promise.race([
    new Promise<string>((done) => lines.once('line', done)),
    exited.then(() => undefined),
  ])
  if (url !== undefined) return { child, url, exited }
  await rm(folder, { recursive: true, force: true })
  throw new WiretapeError(
    'usage',
    complaint.trim().replace(/^wiretape: /, '') || 'the recorder did not start',
  )
}

/**
 * The only tape of a folder, once its recorder has closed it.
 *
 * @throws WiretapeError `not-a-recording` for no tape, several, or one still open after `waitMs`
 */
export async function closedTape(folder: string, waitMs = longestWaitMs): Promise<string> {
  const deadline = Date.now() + waitMs
  for (;;) {
    const [tape, ...more] = await listTapes(folder)
    if (more.length > 0) {
      throw new WiretapeError('not-a-recording', `${more.length + 1} clients were recorded`, {
        hint: 'record each client to its own file',
      })
    }
    if (tape?.end) return tape.path
    if (Date.now() > deadline) {
      throw new WiretapeError(
        'not-a-recording',
        tape ? 'the client is still connected' : 'no client was recorded',
        {
          hint: 'close the client first',
        },
      )
    }
    await setTimeout(pollMs)
  }
}
