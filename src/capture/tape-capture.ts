import { rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { registerCapture, type Registration } from '../control/index.js'
import type { MetaRecord, RestartFacts } from '../model/index.js'
import {
  createRecorder,
  type Recorder,
  type RecordingReport,
  type Redaction,
  type SessionEnd,
} from '../proxy/index.js'
import type { Redactor } from '../redaction/index.js'
import {
  makeFolder,
  realDisk,
  segmentsOf,
  startFullTape,
  startTape,
  type FileIdentity,
  type SegmentFile,
} from '../tape/index.js'
import type { Following, Telemetry } from '../telemetry/index.js'
import type { CaptureFiles, RunningCapture } from './capture-options.js'
import { LiveCapture } from './live.js'
import type { LoadedIntercept } from './live-context.js'
import type { BoundOptions } from './policy-in-force.js'
import { createSessionSaver, saveOnce, type SessionSaver } from './session-saver.js'

/** Settings that all captures of a run share. */
export interface Common {
  readonly redaction: Redaction
  readonly redactor: Redactor
  readonly intercept: LoadedIntercept | undefined
  readonly conversationKey: string | undefined
  readonly telemetry: Telemetry | undefined
}

/** One run of a target. */
export interface CapturedRun extends Common {
  readonly meta: MetaRecord
  readonly startedNs: bigint
  readonly wire: 'pipes' | 'http'
}

/** A capture with a tape, and with a session file if requested. */
export class TapeCapture implements RunningCapture {
  readonly redactor: Redactor
  readonly path: string
  readonly live: LiveCapture
  readonly #options: BoundOptions
  readonly #run: CapturedRun
  readonly #file: SegmentFile
  /** Beside a strict tape, which lacks the data for a session file. */
  readonly #full: SegmentFile | undefined
  /** The tape from which session files are made. */
  readonly #source: SegmentFile | undefined
  readonly #saver: SessionSaver | undefined
  readonly #following: Following | undefined
  #recorder: Recorder | undefined
  #registration: Registration | undefined
  /** Files that we have saved, by path: files of others in their place are kept as backups. */
  readonly #saved = new Map<string, FileIdentity | undefined>()

  constructor(options: BoundOptions, run: CapturedRun) {
    const { meta, redactor, telemetry, intercept } = run
    const { folder, strict, sessionFile, compact = false } = options
    this.redactor = redactor
    this.#options = options
    this.#run = run
    this.#file = startTape(folder, meta, { strict })
    this.path = this.#file.path
    this.#full = strict && sessionFile !== undefined ? startFullTape(this.path, meta) : undefined
    this.#source = this.#full ?? (strict ? undefined : this.#file)
    const tape = (this.#source ?? this.#file).path
    if (sessionFile !== undefined) this.#saver = createSessionSaver({ target: sessionFile, tape, compact })
    this.#following = telemetry?.follow((this.#full ?? this.#file).path)
    this.live = new LiveCapture({
      meta,
      tape: this.path,
      registryFolder: options.registryFolder,
      isStrict: strict,
      sessionFile: sessionFile ?? this.path.replace(/(\.jsonl)?$/, '.session.json'),
      recorder: () => this.#recorder!,
      listens: (socket) => this.#registration?.listens(socket) === true,
      save: (path) => this.#save(path),
      ...(intercept && { intercept }),
    })
  }

  record(...[onPressure, early]: Parameters<RunningCapture['record']>): Recorder {
    const { meta, startedNs, wire, redaction, conversationKey } = this.#run
    const { strict, maxBytes, sealAfterMs, quota, maxFiles, sessionFile, onTrouble } = this.#options
    this.#recorder = createRecorder(
      {
        tape: openFileOf(this.#file),
        ...(this.#full && { full: openFileOf(this.#full) }),
        meta,
        startedNs,
        strict,
        wire,
        redaction,
        ...(conversationKey !== undefined && { conversationKey }),
        ...(maxBytes !== undefined && { maxBytes }),
        ...(sealAfterMs !== undefined && { sealAfterMs }),
        ...(quota && { quota }),
        ...(maxFiles !== undefined && sessionFile === undefined && { maxFiles }),
      },
      {
        onPressure,
        // Over HTTP, a pause has no clear use.
        pausesTraffic: wire === 'pipes' && availableParallelism() <= 2,
        ...(early && { pool: early.pool }),
        ...(early?.thread && { startWorker: early.thread.begin }),
        onRecorded: (end) => {
          this.live.tapeGrew(end)
          this.#following?.grew(this.#full ? undefined : end)
        },
        ...(onTrouble && { onTrouble }),
      },
    )
    return this.#recorder
  }

  register(): void {
    this.#registration = register(this.#options.registryFolder, this.#run.meta, this.path)
  }

  readonly note = (text: string, restart?: RestartFacts): void =>
    this.#recorder?.enter({ kind: 'note', text, ...(restart && { restart }) })

  async finish(end: SessionEnd): Promise<CaptureFiles> {
    const full = this.#full
    this.live.over()
    const tape = await this.#recorder!.close({ ...end, redacted: this.redactor.report() })
    const exporting = this.#following?.finish()
    await this.live.finish()
    const sources = full ? segmentsOf(full.path) : tape.paths
    const sessionTrouble = await this.#saver?.finish(sources)
    const { notHeld, rulesFault } = this.live
    // Segments stay until they are read.
    const exported = await exporting
    const told = {
      ...(notHeld !== undefined && { notHeld }),
      ...(rulesFault !== undefined && { rulesFault }),
      ...(exported && { telemetry: exported }),
    }
    if (!this.#saver) return { tape, ...told }
    if (full && sessionTrouble === undefined) for (const path of sources) rmSync(path, { force: true })
    if (sessionTrouble !== undefined) return { tape, sessionTrouble, ...told }
    return { tape: prune(tape, this.#options.maxFiles), ...told }
  }

  close(): void {
    this.#registration?.close()
  }

  /** Returns why not. */
  async #save(path: string): Promise<string | undefined> {
    const { sessionFile, compact = false } = this.#options
    if (this.#saver && path === sessionFile) return this.#saver.now()
    if (!this.#source)
      return 'a --strict-v1 tape lacks the data for a session file: record with --session-file'
    const tapes = segmentsOf(this.#source.path)
    const reply = await saveOnce({ tapes, target: path, own: this.#saved.get(path), compact })
    if ('trouble' in reply) return reply.trouble
    this.#saved.set(path, reply.own)
    return undefined
  }
}

/** The members that can be sent to a thread. */
function openFileOf({ path, fd, sizeBytes }: SegmentFile): Pick<SegmentFile, 'path' | 'fd' | 'sizeBytes'> {
  return { path, fd, sizeBytes }
}

/** Deletes the oldest segments beyond the limit. */
function prune(tape: RecordingReport, maxFiles: number | undefined): RecordingReport {
  if (maxFiles === undefined) return tape
  for (const path of tape.paths.slice(0, -maxFiles)) rmSync(path, { force: true })
  return { ...tape, paths: tape.paths.slice(-maxFiles) }
}

/** An unavailable registry never stops a recording; `ls` then does not show it as live. */
function register(folder: string, meta: MetaRecord, tape: string): Registration {
  try {
    makeFolder(folder, realDisk)
  } catch {
    return { listens: () => false, close: () => undefined }
  }
  const { startedAt, label } = meta
  return registerCapture(folder, { session: meta.wiretape!.session, label, tape, startedAt })
}
