import { resolve } from 'node:path'
import type { Recording } from '../formats/index.js'
import { watchRules, type WatchedRules } from '../intercept/index.js'
import { checkPath, WiretapeError, type TapeRecord } from '../model/index.js'
import { checkReplaceable, openSegments, type RecordingFile } from '../tape/index.js'
import { checkOptions } from './check-options.js'
import { createFallbacks } from './fallback/fallbacks.js'
import { serveHttp } from './http/serve-http.js'
import type { Access } from '../transports/index.js'
import { prepareStage, type Stage } from './stage.js'
import { serveStream } from './serve-stream.js'
import type { MockOptions } from './mock-options.js'

/** A running mock of a recorded server. */
export interface Mock {
  /** URL for clients; undefined on streams. */
  readonly url: string | undefined
  /** Number of recorded responses sent so far. */
  readonly served: number
  /** Number of calls so far without a recorded response. */
  readonly missed: number
  /** Exit status of a recorded server that ended before its client, once a client has reached that point. */
  readonly exitCode: number | undefined
  /** Resolves when the client of the streams has left and everything was sent; over HTTP when the mock is closed. */
  readonly ended: Promise<void>
  /**
   * Ends all conversations, the real server and the listener, then writes the copy. Can be called twice.
   *
   * @throws WiretapeError `unwritable` when the copy cannot be written
   */
  close(): Promise<void>
}

/**
 * Serves a recording as a mock server: sends clients the recorded text, until it is closed.
 *
 * @param recording path of a recording of any format; for a rotated one any segment. Several are played as one
 * @throws WiretapeError `unreadable`, `not-a-recording`, `unwritable`; `usage` for a recording of one side only,
 *   invalid options, a port in use
 */
export function mock(
  recording: string | readonly string[],
  options?: MockOptions & { readonly streams?: undefined },
): Promise<Mock & { readonly url: string }>
export function mock(recording: string | readonly string[], options: MockOptions): Promise<Mock>
export async function mock(recording: string | readonly string[], options: MockOptions = {}): Promise<Mock> {
  const paths = Array.isArray(recording) ? (recording as readonly string[]) : [recording as string]
  for (const path of paths) checkPath('recording', path)
  checkOptions(options)
  const files = new Map<string, RecordingFile>()
  for (const path of paths) for (const file of await openSegments(resolve(path))) files.set(file.path, file)
  async function* records(): AsyncGenerator<TapeRecord> {
    for (const file of files.values())
      yield* file.format.read({ bytes: () => file.bytes(file.sizeBytes) }, () => undefined)
  }
  return startMock({ records }, paths.join(' '), options)
}

/**
 * Like `mock`, for a recording that is already open.
 *
 * @param name the user's name for the recording
 * @param access who may use the mock over HTTP, besides `openToAllUsers`
 */
export async function startMock(
  recording: Recording,
  name: string,
  options: MockOptions,
  access: Access = {},
): Promise<Mock> {
  const { record, fallback: command, onNotice: notice = () => undefined } = options
  checkOptions(options)
  // Checked first: found only at the end, the problem would cost all responses of the real server.
  if (record) await checkReplaceable(resolve(record.out))
  const rules = options.rules === undefined ? undefined : await startRules(options.rules, notice)
  const fallbacks =
    command && createFallbacks({ command, notice, errorOutput: options.errorOutput, recording, record })
  let play: Stage['play'] | undefined
  try {
    const stage = await prepareStage(recording, name, {
      ...(options.repeatLast && { repeatLast: true }),
      ...(options.pace !== undefined && { pace: options.pace }),
      rules: rules && (() => rules.current),
      fallback: fallbacks?.open,
      askAlways: record?.what === 'all',
      onMiss: options.onMiss ?? (() => undefined),
      onNotice: notice,
    })
    play = stage.play
    if (record) refuseSeveral(play.counts.sessions, name)
    const served = await serve(stage, options, access)
    return runningMock(stage, served, async () => {
      rules?.close()
      await served.close()
      try {
        await fallbacks?.close(stage.play)
      } finally {
        stage.play.close()
      }
    })
  } catch (error) {
    rules?.close()
    play?.close()
    throw error
  }
}

function refuseSeveral(recordings: number, name: string): void {
  if (recordings <= 1) return
  throw new WiretapeError('usage', `${name} has ${recordings} recordings, but a copy can have only one`, {
    hint: 'choose one of them',
  })
}

/** The end that answers clients. */
interface Served {
  readonly url?: string
  /** Without it, the mock ends when it is closed. */
  readonly ended?: Promise<void>
  close(): Promise<void>
}

async function serve(stage: Stage, options: MockOptions, access: Access): Promise<Served> {
  const { streams, transport, listen, onNotice: notice = () => undefined } = options
  if (streams) return serveStream({ ...streams, open: (sink) => stage.open(sink, 'stdio'), notice })
  const { host = '127.0.0.1', port = 0 } = listen ?? {}
  return serveHttp(stage, {
    host,
    port,
    transport,
    access: { openToAllUsers: options.openToAllUsers === true, ...access },
  })
}

function runningMock(stage: Stage, served: Served, close: () => Promise<void>): Mock {
  let closed: () => void = () => undefined
  const ended = served.ended ?? new Promise<void>((done) => (closed = done))
  let closing: Promise<void> | undefined
  return {
    url: served.url,
    get served() {
      return stage.counts.served
    },
    get missed() {
      return stage.counts.missed
    },
    get exitCode() {
      return stage.hasDied ? stage.play.death?.exitCode : undefined
    },
    ended,
    close: () => (closing ??= close().finally(closed)),
  }
}

async function startRules(path: string, notice: (line: string) => void): Promise<WatchedRules> {
  const started = await watchRules(resolve(path), {
    name: path,
    onChange: ({ fault }) => fault !== undefined && notice(`the previous rules stay in force: ${fault}`),
  })
  if (started.rules) return started.rules
  throw new WiretapeError('usage', started.fault)
}
