import { statSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { JsonMembers, MetaRecord } from '../model/index.js'
import { createRunRedactor } from '../proxy/index.js'
import type { Redactor } from '../redaction/index.js'
import {
  checkReplaceable,
  makeFolder,
  originOf,
  randomBytes,
  randomUUID,
  realDisk,
  refusePipe,
  refuseStandardStream,
  refuseTape,
} from '../tape/index.js'
import type { ArrivalTime } from '../transports/index.js'
import { JsonObject } from '../wire/index.js'
import { loadIntercept } from './live.js'
import { boundBy, policyInForce, subjectOf, type BoundOptions } from './policy-in-force.js'
import { createSilentCapture } from './silent-capture.js'
import { TapeCapture, type Common } from './tape-capture.js'
import type { CaptureOptions, CaptureTarget, RunningCapture } from './capture-options.js'

/** A capture ready to start once its target is known. */
export interface PreparedCapture {
  /** Key for replacing session ids by names, in transport and recorder; without it they are shown as they are. */
  readonly conversationKey?: string
  start(target: CaptureTarget, since?: ArrivalTime): RunningCapture
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
  common: Common,
  since: ArrivalTime | undefined,
): RunningCapture {
  const agoMs = since ? performance.now() - since.atMs : 0
  const startedNs = process.hrtime.bigint() - BigInt(Math.round(agoMs * 1e6))
  const meta = metaOf(options, target, common.redactor, new Date(since?.wallMs ?? Date.now()))
  const wire = target.wire ?? (target.transport === 'stdio' ? 'pipes' : 'http')
  return new TapeCapture(options, { ...common, meta, startedNs, wire })
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
