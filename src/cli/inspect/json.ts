import { isFrameRecord, noTime, type Session } from '../../model/index.js'
import { escapeJson } from '../../render/index.js'
import { notesJson } from '../notes.js'
import type { LoadedRecording } from '../recordings.js'
import type { Fault } from './faults.js'
import type { InspectRow } from './inspect-row.js'

/** One element of `recordings`, as JSON text: facts about the whole recording. */
export function recordingJson(recording: LoadedRecording, faults: readonly Fault[]): string {
  const head = {
    files: recording.files.map(({ name }) => name),
    format: recording.files[0]?.file.format.id,
    counts: recording.fold.counts(),
    faults,
    notes: notesJson(recording.notes),
  }
  const sessions = recording.fold.sessions.map(sessionJson).join(',')
  return `${escapeJson(JSON.stringify(head)).slice(0, -1)},"sessions":[${sessions}]}`
}

/** Metadata values are as on the tape. */
function sessionJson(session: Session): string {
  const known = {
    id: session.id,
    label: session.label,
    startedAt: knownTime(session.startedAt),
    endedAt: knownTime(session.endedAt),
    transport: session.transport,
    command: session.command,
    url: session.url,
    segments: session.segments,
    complete: session.complete,
    recovered: session.recovered ?? false,
    exitCode: session.exitCode ?? null,
    durationMs: session.durationMs ?? null,
    signal: session.signal ?? null,
    error: session.error ?? null,
    redaction: session.redaction,
    redacted: session.redacted ?? [],
    protocolVersion: session.protocolVersion ?? null,
    eras: session.eras,
    client: session.client ?? null,
    clients: session.clients,
    server: session.server ?? null,
  }
  const metadata = session.metadata.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')
  return escapeJson(`${JSON.stringify(known).slice(0, -1)},"metadata":{${metadata}}}`)
}

function knownTime(t: string | null): string | null {
  return t === noTime ? null : t
}

/**
 * One element of `messages`, as JSON text. The payload is the exact text, not parsed and reprinted.
 */
export function rowJson(row: InspectRow, recordings: readonly LoadedRecording[], verbose: boolean): string {
  const envelope = row.part?.envelope
  const { record } = row
  const fields = {
    recording: recordings.indexOf(row.recording),
    sequence: row.seq < 0 ? null : row.seq,
    timestamp: row.us === undefined ? null : row.t,
    us: row.us ?? null,
    direction: row.kind === 'stderr' || row.kind === 'gap' ? directionOf(row) : row.direction,
    kind: row.kind,
    conversation: 'conversation' in record ? (record.conversation ?? null) : null,
    proxyId: row.part?.id ?? null,
    method: envelope?.method ?? null,
    subject: envelope?.subject ?? null,
    correlatedId: row.part?.correlatedId ?? null,
    request: requestOf(row),
    latencyUs: row.latencyUs ?? null,
    waitedUs: row.waitedUs ?? null,
    sizeBytes: row.sizeBytes,
    error:
      envelope?.kind === 'error'
        ? { code: envelope.errorCode ?? null, message: envelope.errorMessage ?? null }
        : null,
    facts: [...row.facts],
    ...(row.findings && {
      findings: row.findings.map(({ rule, level, message, at: place = null }) => ({
        rule: rule.id,
        level,
        message,
        at: place,
      })),
    }),
    heldMs: row.heldMs ?? null,
    rule: (isFrameRecord(record) ? record.rule : undefined) ?? null,
    links: row.part?.links ?? [],
    text: record.type === 'noise' || record.type === 'stderr' ? record.text : null,
    http:
      record.type === 'http'
        ? { method: record.method, path: record.path, status: record.status ?? null, why: record.why ?? null }
        : null,
    phases:
      (record.type === 'http'
        ? record.phases
        : record.type === 'message'
          ? record.http?.phases
          : undefined) ?? null,
    gap:
      record.type === 'gap'
        ? { lost: record.lost, lostBytes: record.lostBytes ?? null, why: record.why }
        : null,
  }
  const id = envelope?.id ?? 'null'
  const payload = verbose && row.raw !== '' ? `,"payload":${row.raw}` : ''
  const known = escapeJson(JSON.stringify(fields)).slice(0, -1)
  return `${known},"jsonrpcId":${id}${payload}}`
}

/** Null for stderr lines and for gaps in both directions. */
function directionOf({ record }: InspectRow): string | null {
  return record.type === 'gap' ? (record.direction ?? null) : null
}

function requestOf({ answers, request }: InspectRow): unknown {
  if (answers === undefined) return null
  return { sequence: answers, method: request?.method ?? null, subject: request?.subject ?? null }
}
