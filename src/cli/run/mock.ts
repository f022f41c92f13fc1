import { resolve } from 'node:path'
import { defaultLabel, policyInForce } from '../../capture/index.js'
import { startMock, type Mock, type MockOptions } from '../../mock/index.js'
import { WiretapeError, type TapeRecord } from '../../model/index.js'
import { countOf } from '../../render/index.js'
import { openOwnStdio, within } from '../../transports/index.js'
import { accessOf } from '../access.js'
import { exitCode } from '../exit-codes.js'
import { sayClientExpected } from '../expected-client.js'
import type { Io } from '../io.js'
import { refuseOwnInput } from '../own-input.js'
import { parseListen } from '../listen-option.js'
import { createComplaints, type Complaints } from '../complaints.js'
import { recordingPaths } from '../recording-name.js'
import { openRecordings, type OpenRecording } from '../recordings.js'
import { withSegments } from '../with-segments.js'

export interface MockCommandOptions {
  readonly from?: string
  readonly listen?: string
  readonly openToAllUsers?: boolean
  readonly transport?: 'streamable-http' | 'sse'
  readonly repeatLast?: boolean
  readonly pace?: string
  readonly rules?: string
  readonly fallback?: boolean
  readonly record?: 'new' | 'all'
  readonly out?: string
  readonly quiet?: boolean
}

/** Grace period for a client that reads slowly. */
const graceMs = 2_000

const endings = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/**
 * Serves a recording until the client disconnects or a signal arrives.
 *
 * @param command of the real server: the words after `--`
 */
export async function runMock(
  named: readonly string[],
  command: readonly string[],
  options: MockCommandOptions,
  io: Io,
): Promise<number> {
  const files = await recordingPaths(named, io)
  checkUse(files, command, options)
  if (options.record) await refuseByPolicy(command, io)
  if (options.out !== undefined) refuseOwnInput(options.out, await withSegments(files, io.cwd), '--out', io)
  const listen = options.listen === undefined ? undefined : parseListen(options.listen)
  const { recordings, close } = await openRecordings(files, io.cwd, options.from)
  const ending = untilSignal()
  try {
    const mockOptions: MockOptions = {
      ...(options.pace !== undefined && { pace: options.pace }),
      ...(options.repeatLast && { repeatLast: true }),
      ...(options.rules !== undefined && { rules: options.rules }),
      ...(options.fallback && { fallback: command }),
      ...(options.record && { record: { what: options.record, out: resolve(io.cwd, options.out!) } }),
      onMiss: ({ message }) => {
        if (!options.quiet) void io.complain(message)
      },
      onNotice: (line) => void io.complain(line),
    }
    const start = async (more: MockOptions): Promise<Mock> => {
      const complaints = createComplaints()
      let isRead = false
      // Later reads are for the copy, which a signal must not truncate.
      const isOver = (): boolean => !isRead && ending.came !== undefined
      const source = { records: () => recordsOf(recordings, isOver, complaints.input) }
      const access = accessOf(options.openToAllUsers, `mock ${files.join(' ')}`, listen?.port ?? 0, io)
      const mock = await startMock(source, files.join(' '), { ...mockOptions, ...more }, access)
      isRead = true
      await complaints.tell(io)
      return mock
    }
    return await (listen
      ? overHttp(() => start({ listen, transport: options.transport }), ending, options, io)
      : onStdio(start, ending, options, io))
  } catch (error) {
    // A signal may have stopped the reading half-way.
    if (ending.came === undefined) throw error
    return 128 + endings[ending.came]
  } finally {
    ending.cancel()
    await close()
  }
}

/** Responses of a real server are kept with the recording's redaction, not the policy's. */
async function refuseByPolicy(command: readonly string[], io: Io): Promise<void> {
  const inForce = await policyInForce()
  if (inForce.kind === 'none') return
  const { forbids } = await import('../../policy/index.js')
  const subject = { label: defaultLabel(command, io.cwd), command, url: null }
  const isAllowed =
    inForce.kind === 'policy' && inForce.policy.redact.length === 0 && !forbids(inForce.policy, subject)
  if (isAllowed) return
  const why = inForce.kind === 'broken' ? inForce.why : 'the policy of this machine does not allow it'
  throw new WiretapeError('usage', `--record: ${why}`, { hint: 'see wiretape status --policy' })
}

/** One recording after another until `isOver`, since large ones take long. */
async function* recordsOf(
  recordings: readonly OpenRecording[],
  isOver: () => boolean,
  report: Complaints['input'],
): AsyncIterable<TapeRecord> {
  for (const recording of recordings) {
    for await (const record of recording.records(report)) {
      yield record
      if (isOver()) return
    }
  }
}

function checkUse(files: readonly string[], command: readonly string[], options: MockCommandOptions): void {
  const wrong = (message: string, hint: string): WiretapeError =>
    new WiretapeError('usage', message, { hint })
  if (files.length === 0) throw wrong('a recording is needed', 'name it before --')
  if (options.fallback && command.length === 0)
    throw wrong('--fallback needs the command of a server', 'put the command at the end, after --')
  if (!options.fallback && command.length > 0)
    throw wrong(`the command ${command[0]} needs --fallback`, '--fallback forwards unmatched calls to it')
  if (options.record && !options.fallback)
    throw wrong('--record needs a real server to record', 'name one with --fallback -- COMMAND')
  if (options.record && options.out === undefined)
    throw wrong('--record needs a file for the copy', 'name it with --out FILE')
  if (!options.record && options.out !== undefined)
    throw wrong('--out needs --record', 'add --record new or --record all')
  if (options.listen !== undefined) return
  if (options.openToAllUsers) throw wrong('--open-to-all-users needs --listen', 'add --listen HOST:PORT')
  if (options.transport !== undefined) throw wrong('--transport needs --listen', 'add --listen HOST:PORT')
  if (files.includes('-'))
    throw wrong(
      'the client uses stdin, so the recording cannot be read from stdin',
      'name a file, or serve over HTTP with --listen',
    )
}

/** Serves until a signal arrives. The only line on stdout is the URL for clients. */
async function overHttp(
  start: () => Promise<Mock>,
  ending: Ending,
  { quiet }: MockCommandOptions,
  io: Io,
): Promise<number> {
  const mock = await start()
  if (ending.came !== undefined) {
    await mock.close()
    return 128 + endings[ending.came]
  }
  await io.write(`${mock.url}\n`)
  await io.flush()
  if (!quiet) await io.complain('serving; give clients the URL above, end with Ctrl+C')
  await ending.signal
  await mock.close()
  if (!quiet)
    await io.complain(`served ${countOf(mock.served, 'response')}, ${countOf(mock.missed, 'unmatched call')}`)
  return exitCode.done
}

async function onStdio(
  start: (options: MockOptions) => Promise<Mock>,
  ending: Ending,
  { quiet }: MockCommandOptions,
  io: Io,
): Promise<number> {
  await sayClientExpected(io, quiet, 'serve over HTTP with --listen 127.0.0.1:8080')
  const streams = openOwnStdio()
  try {
    const mock = await start({ streams, errorOutput: streams.errorOutput })
    const signal = await Promise.race([mock.ended, ending.signal])
    await mock.close()
    return signal === undefined ? (mock.exitCode ?? exitCode.done) : 128 + endings[signal]
  } finally {
    // After a signal, do not wait for a client that stopped reading.
    const closed = streams.closeOutput()
    if (ending.came === undefined) await closed
    else if (!(await within(closed, graceMs))) streams.output.destroy()
    streams.closeInput()
  }
}

interface Ending {
  /** Resolves on the first terminating signal. */
  readonly signal: Promise<keyof typeof endings>
  readonly came: keyof typeof endings | undefined
  cancel(): void
}

function untilSignal(): Ending {
  const listeners: [keyof typeof endings, () => void][] = []
  let came: keyof typeof endings | undefined
  const signal = new Promise<keyof typeof endings>((resolve) => {
    for (const name of Object.keys(endings) as (keyof typeof endings)[]) {
      const listener = (): void => {
        came ??= name
        resolve(name)
      }
      process.on(name, listener)
      listeners.push([name, listener])
    }
  })
  return {
    signal,
    get came() {
      return came
    },
    cancel: () => {
      for (const [name, listener] of listeners) process.off(name, listener)
    },
  }
}
