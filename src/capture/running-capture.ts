import { randomBytes, randomUUID } from 'node:crypto'
import { rmSync, statSync } from 'node:fs'
import { isatty } from 'node:tty'
import { registerCapture, type Registration } from '../control/index.js'
import type { JsonMembers, MetaRecord } from '../model/index.js'
import {
  createRecorder,
  createRunRedactor,
  type Recorder,
  type RecordingReport,
  type Redaction,
} from '../proxy/index.js'
import type { Redactor } from '../redaction/index.js'
import {
  checkReplaceable,
  makeFolder,
  originOf,
  realDisk,
  refusePipe,
  refuseStandardStream,
  refuseTape,
  segmentsOf,
  startFullTape,
  startTape,
  type FileIdentity,
  type SegmentFile,
} from '../tape/index.js'
import type { Following, Telemetry } from '../telemetry/index.js'
import type { ArrivalTime } from '../transports/index.js'
import { JsonObject } from '../wire/index.js'
import { LiveCapture, loadIntercept } from './live.js'
import type { LoadedIntercept } from './live-context.js'
import { boundBy, policyInForce, subjectOf, type BoundOptions } from './policy-in-force.js'
import { createSilentCapture } from './silent-capture.js'
import { createSessionSaver, saveOnce } from './session-saver.js'
import type { CaptureOptions, CaptureTarget, RunningCapture } from './capture-options.js'

/** A capture ready to start once its target is known. */
export interface PreparedCapture {
  /** Key for replacing session ids by names, in transport and recorder; without it they are shown as they are. */
  readonly conversationKey?: string
  start(target: CaptureTarget, since?: ArrivalTime): RunningCapture
}

interface Common {
  readonly redaction: Redaction
  readonly redactor: Redactor
  readonly intercept: LoadedIntercept | undefined
  readonly conversationKey: string | undefined
  readonly telemetry: Telemetry | undefined
}

/**
 * Checks the redaction rules and that the session file can be written.
 *
 * @returns its `start` begins a tape, now or as of `since`; throws WiretapeError `unwritable` when there can be none
 * @throws WiretapeError `usage`, `unwritable`
 */
export async function prepareCapture(asked: CaptureOptions): Promise<PreparedCapture> {
  const inForce = await policyInForce()
  if (inForce.kind === 'broken') return prepareNothing(asked, inForce.why)
  if (inForce.kind === 'none') return prepareRecording(asked)
  const { policy } = inForce
  const { forbids } = await import('../policy/index.js')
  const prepared = await prepareRecording(boundBy(policy, asked))
  const consent = policy.consent.map(({ value }) => value).join(' ')
  let isTold = consent === '' || !isatty(2)
  return {
    ...prepared,
    start(target, since) {
      const setting = forbids(policy, subjectOf(asked, target))
      if (setting) {
        const { file, line } = setting.from
        return prepared.startSilent(`the policy excludes it (${file}:${line})`)
      }
      if (!isTold) asked.onTrouble?.(consent)
      isTold = true
      return prepared.start(target, since)
    },
  }
}

/** Fails closed: an unreadable policy may forbid everything. */
async function prepareNothing(asked: CaptureOptions, why: string): Promise<PreparedCapture> {
  asked.onTrouble?.(`${why}: nothing is recorded, all messages pass`)
  const redactor = await createRunRedactor({ defaults: true })
  return { start: () => createSilentCapture(redactor, why, isGated(asked)) }
}

function isGated({ intercept, rulesFile, guard }: CaptureOptions): boolean {
  return intercept !== undefined || rulesFile !== undefined || guard !== undefined
}

interface PreparedRecording extends PreparedCapture {
  startSilent(why: string): RunningCapture
}

async function prepareRecording(options: BoundOptions): Promise<PreparedRecording> {
  // One key for all tapes of a run: a secret passed from one server to another has one tag.
  const { tagKey = randomBytes(32).toString('hex') } = options.redaction
  const redaction = { ...options.redaction, tagKey }
  const redactor = await createRunRedactor(redaction)
  if (options.sessionFile !== undefined) {
    refuseStandardStream(options.sessionFile)
    refusePipe(options.sessionFile)
    await refuseTape(options.sessionFile)
    await checkReplaceable(options.sessionFile)
  }
  const { intercept: asked, rulesFile, guard } = options
  const loaded = isGated(options) ? await loadIntercept(asked, rulesFile) : undefined
  const intercept = loaded && guard ? { ...loaded, makeGuard: await guard() } : loaded
  const conversationKey = redactor.name === 'none' ? undefined : randomBytes(32).toString('hex')
  const telemetry = await options.telemetry?.()
  const common = { redaction, redactor, intercept, conversationKey, telemetry }
  return {
    ...(conversationKey !== undefined && { conversationKey }),
    start: (target, since) => startCapture(options, target, common, since),
    startSilent: (why) => createSilentCapture(redactor, why, isGated(options)),
  }
}

function startCapture(
  options: BoundOptions,
  target: CaptureTarget,
  { redaction, redactor, intercept, conversationKey, telemetry }: Common,
  since: ArrivalTime | undefined,
): RunningCapture {
  const agoMs = since ? performance.now() - since.atMs : 0
  const startedNs = process.hrtime.bigint() - BigInt(Math.round(agoMs * 1e6))
  const meta = metaOf(options, target, redactor, new Date(since?.wallMs ?? Date.now()))
  const { sessionFile, maxFiles, compact = false } = options
  const file: SegmentFile = startTape(options.folder, meta, { strict: options.strict })
  const full = options.strict && sessionFile !== undefined ? startFullTape(file.path, meta) : undefined
  /** The tape from which session files are made; a strict one lacks the data. */
  const source = full ?? (options.strict ? undefined : file)
  const saver =
    sessionFile === undefined
      ? undefined
      : createSessionSaver({ target: sessionFile, tape: (source ?? file).path, compact })
  let recorder: Recorder | undefined
  let registration: Registration | undefined
  /** Files that we have saved, by path: files of others in their place are kept as backups. */
  const saved = new Map<string, FileIdentity | undefined>()
  async function save(path: string): Promise<string | undefined> {
    if (saver && path === sessionFile) return saver.now()
    if (!source) return 'a --strict-v1 tape lacks the data for a session file: record with --session-file'
    const tapes = segmentsOf(source.path)
    const reply = await saveOnce({ tapes, target: path, own: saved.get(path), compact })
    if ('trouble' in reply) return reply.trouble
    saved.set(path, reply.own)
    return undefined
  }
  const following: Following | undefined = telemetry?.follow((full ?? file).path)
  const live = new LiveCapture({
    meta,
    tape: file.path,
    registryFolder: options.registryFolder,
    isStrict: options.strict,
    sessionFile: sessionFile ?? file.path.replace(/(\.jsonl)?$/, '.session.json'),
    recorder: () => recorder!,
    listens: (socket) => registration?.listens(socket) === true,
    save,
    ...(intercept && { intercept }),
  })
  return {
    redactor,
    live,
    note: (text, restart) => recorder?.enter({ kind: 'note', text, ...(restart && { restart }) }),
    path: file.path,
    record(onPressure, thread) {
      const tape = { path: file.path, fd: file.fd, sizeBytes: file.sizeBytes }
      recorder = createRecorder(
        {
          tape,
          ...(full && { full: { path: full.path, fd: full.fd, sizeBytes: full.sizeBytes } }),
          meta,
          startedNs,
          strict: options.strict,
          wire: target.wire ?? (target.transport === 'stdio' ? 'pipes' : 'http'),
          redaction,
          ...(conversationKey !== undefined && { conversationKey }),
          ...(options.maxBytes !== undefined && { maxBytes: options.maxBytes }),
          ...(options.sealAfterMs !== undefined && { sealAfterMs: options.sealAfterMs }),
          ...(options.quota && { quota: options.quota }),
          ...(maxFiles !== undefined && sessionFile === undefined && { maxFiles }),
        },
        {
          onPressure,
          ...(thread && { firstThread: thread }),
          onRecorded(end) {
            live.tapeGrew(end)
            following?.grew(full ? undefined : end)
          },
          ...(options.onTrouble && { onTrouble: options.onTrouble }),
        },
      )
      return recorder
    },
    register() {
      registration = register(options.registryFolder, meta, file.path)
    },
    async finish(end) {
      live.over()
      const tape = await recorder!.close({ ...end, redacted: redactor.report() })
      const exporting = following?.finish()
      await live.finish()
      const sources = full ? segmentsOf(full.path) : tape.paths
      const sessionTrouble = await saver?.finish(sources)
      const { notHeld, rulesFault } = live
      // Segments stay until they are read.
      const exported = await exporting
      const told = {
        ...(notHeld !== undefined && { notHeld }),
        ...(rulesFault !== undefined && { rulesFault }),
        ...(exported && { telemetry: exported }),
      }
      if (!saver) return { tape, ...told }
      if (full && sessionTrouble === undefined) for (const path of sources) rmSync(path, { force: true })
      if (sessionTrouble !== undefined) return { tape, sessionTrouble, ...told }
      return { tape: prune(tape, maxFiles), ...told }
    },
    close() {
      registration?.close()
    },
  }
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

function metaOf(
  options: CaptureOptions,
  target: CaptureTarget,
  redactor: Redactor,
  started: Date,
): MetaRecord {
  const originKey = hasFolder(options.folder) ? options.originKey?.() : undefined
  const origin = {
    session: randomUUID(),
    command: redactor.command(target.command),
    url: target.url === null ? null : redactor.url(target.url),
  }
  return {
    type: 'meta',
    startedAt: started.toISOString(),
    label: redactor.text(target.label ?? options.label),
    command: origin.command,
    mcpTapVersion: `wiretape ${options.version}`,
    wiretape: {
      version: options.version,
      session: origin.session,
      transport: target.transport,
      url: origin.url,
      segment: 0,
      redaction: redactor.name,
      metadata: redactedMetadata(options.metadata, redactor),
      ...(originKey !== undefined && { origin: originOf(originKey, origin) }),
    },
  }
}

/** Without a folder for the tape, no key is created. */
function hasFolder(folder: string): boolean {
  try {
    makeFolder(folder, realDisk)
    return statSync(folder).isDirectory()
  } catch {
    return false
  }
}

/** A person's metadata is redacted by the same rules as the recording. */
export function redactedMetadata(metadata: JsonMembers, redactor: Redactor): JsonMembers {
  const members = metadata.map(([name, json]) => `${JSON.stringify(name)}:${redactedText(json, redactor)}`)
  const text = `{${members.join(',')}}`
  return new JsonObject(redactor.json(text)?.raw ?? text, 0).others()
}

/** A person's text as text; other values stay JSON. */
function redactedText(json: string, redactor: Redactor): string {
  return json.startsWith('"') ? JSON.stringify(redactor.text(JSON.parse(json) as string)) : json
}
