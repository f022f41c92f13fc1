import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { registerCapture, type Registration } from '../control/index.js'
import type { JsonMembers, MetaRecord } from '../model/index.js'
import { createRecorder, createRunRedactor, type RecordingReport, type Redaction } from '../proxy/index.js'
import type { Redactor } from '../redaction/index.js'
import { checkReplaceable, makeFolder, realDisk, startTape, type SegmentFile } from '../tape/index.js'
import {
  isForegroundGroup,
  openOwnStdio,
  runStdio,
  startServer,
  type ServerExit,
  type StdioRun,
} from '../transports/index.js'
import { JsonObject } from '../wire/index.js'
import { createReadBuffers } from './read-buffers.js'
import { createSessionSaver } from './session-saver.js'
import { forwardSignals } from './signals.js'

/** What to record and where. */
export interface StdioCaptureOptions {
  /** The server's argv, at least the program. */
  readonly command: readonly string[]
  /** Folder of the tape; created when missing. */
  readonly folder: string
  /** Folder in which live captures are registered. */
  readonly registryFolder: string
  readonly label: string
  readonly metadata: JsonMembers
  readonly strict: boolean
  readonly maxBytes?: number
  readonly maxFiles?: number
  /** A session file to keep beside the tape. Segments of the tape then stay until it is saved for the last time. */
  readonly sessionFile?: string
  /** What is taken out of everything that is recorded or shown; the bytes that are passed on stay. */
  readonly redaction: Redaction
  /** wiretape's own version. */
  readonly version: string
}

/** How a capture ended. */
export interface CaptureResult {
  /** What to exit with: the server's status, 128 + signal, 127 when it could not be started. */
  readonly exitCode: number
  /** Why the server could not be started. */
  readonly notStarted?: string
  readonly tape: RecordingReport
  /** Why the session file could not be saved. */
  readonly sessionTrouble?: string
}

/**
 * Starts the server and stands between it and whoever started us, until it is gone and all is on the tape.
 *
 * @throws WiretapeError before anything is started: `unwritable` when there can be no tape, `usage` for a rule of
 *   redaction that makes no sense
 */
export async function recordStdio(options: StdioCaptureOptions): Promise<CaptureResult> {
  const redactor = await createRunRedactor(options.redaction)
  if (options.sessionFile !== undefined) await checkReplaceable(options.sessionFile)
  const startedNs = process.hrtime.bigint()
  const meta = metaOf(options, redactor, new Date())
  let run: StdioRun | undefined
  const early: NodeJS.Signals[] = []
  // Before there is a tape: what ends us from now on ends it properly.
  const signals = forwardSignals(isForegroundGroup, (signal) => {
    if (run) run.signal(signal)
    else early.push(signal)
  })
  let file: SegmentFile
  try {
    file = startTape(options.folder, meta, { strict: options.strict })
  } catch (error) {
    signals.close()
    throw error
  }
  const client = openOwnStdio()
  const readBuffers = createReadBuffers()
  const recorder = createRecorder(
    {
      tape: { path: file.path, fd: file.fd, sizeBytes: file.sizeBytes },
      meta,
      startedNs,
      strict: options.strict,
      redaction: options.redaction,
      ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }),
      ...(options.maxFiles !== undefined && !options.sessionFile && { maxFiles: options.maxFiles }),
    },
    { onPressure: (wait) => run?.hold(wait) },
  )
  const starting = startServer(options.command)
  const saver = options.sessionFile && createSessionSaver({ target: options.sessionFile, tape: file.path })
  const conclude = async (result: CaptureResult): Promise<CaptureResult> => {
    const sessionTrouble = saver ? await saver.finish(result.tape.paths) : undefined
    if (sessionTrouble !== undefined) return { ...result, sessionTrouble }
    return { ...result, tape: options.sessionFile ? prune(result.tape, options.maxFiles) : result.tape }
  }
  const registration = register(options, meta, file.path)
  try {
    const server = await starting
    if ('error' in server) {
      const error = redactor.text(server.error)
      const redacted = redactor.report()
      const tape = await recorder.close({ exitCode: 127, error, redacted })
      return await conclude({ exitCode: 127, notStarted: error, tape })
    }
    run = runStdio(server, client, {
      chunk(channel, bytes, atMs, wallMs) {
        recorder.bytes(channel, bytes, atMs, wallMs)
        readBuffers.passed(bytes.length)
      },
      ended: (channel) => recorder.ended(channel),
      broken(channel, deliveredBytes, why) {
        if (channel !== 'err') recorder.undelivered(channel, deliveredBytes, why)
      },
    })
    // Nothing is read before it can be recorded. The server needs that time to start as well.
    run.hold(true)
    void recorder.ready.then(() => run?.hold(false))
    for (const signal of early) run.signal(signal)
    const exit = await run.finished
    const tape = await recorder.close({ ...endOf(exit), redacted: redactor.report() })
    return await conclude({ exitCode: exit.exitCode, tape })
  } finally {
    client.closeInput()
    registration.close()
    signals.close()
  }
}

/** Deletes the segments that are one too many. */
function prune(tape: RecordingReport, maxFiles: number | undefined): RecordingReport {
  if (maxFiles === undefined) return tape
  for (const path of tape.paths.slice(0, -maxFiles)) rmSync(path, { force: true })
  return { ...tape, paths: tape.paths.slice(-maxFiles) }
}

/** A registry that cannot be had never stops a recording: `ls` then does not know that it is live. */
function register(options: StdioCaptureOptions, meta: MetaRecord, tape: string): Registration {
  try {
    makeFolder(options.registryFolder, realDisk)
  } catch {
    return { close: () => undefined }
  }
  const { startedAt, label } = meta
  return registerCapture(options.registryFolder, { session: meta.wiretape!.session, label, tape, startedAt })
}

function metaOf(options: StdioCaptureOptions, redactor: Redactor, started: Date): MetaRecord {
  return {
    type: 'meta',
    startedAt: started.toISOString(),
    label: redactor.text(options.label),
    command: redactor.command(options.command),
    mcpTapVersion: `wiretape ${options.version}`,
    wiretape: {
      version: options.version,
      session: randomUUID(),
      transport: 'stdio',
      url: null,
      segment: 0,
      redaction: redactor.name,
      metadata: redactedMetadata(options.metadata, redactor),
    },
  }
}

/** What a person said about the recording goes by the same rules as what was recorded. */
function redactedMetadata(metadata: JsonMembers, redactor: Redactor): JsonMembers {
  const text = `{${metadata.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(',')}}`
  const redacted = redactor.json(text)
  return redacted ? new JsonObject(redacted.raw, 0).others() : metadata
}

function endOf(exit: ServerExit): { exitCode: number; signal?: string } {
  return { exitCode: exit.exitCode, ...(exit.signal !== undefined && { signal: exit.signal }) }
}

/** Where captures of this user are registered, inside the data folder. */
export function registryFolderIn(dataFolder: string): string {
  return join(dataFolder, 'live')
}
