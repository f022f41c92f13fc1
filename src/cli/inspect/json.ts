import type { LoadedRecording } from '../recordings.js'
import type { Fault } from './faults.js'
import type { InspectRow } from './rows.js'

/** The `recordings` member of the machine output: what is known about each as a whole. */
export function recordingJson(recording: LoadedRecording, faults: readonly Fault[]): unknown {
  return {
    files: recording.files.map(({ path }) => path),
    format: recording.files[0]?.format.id,
    sessions: recording.fold.sessions.map((session) => ({
      id: session.id,
      label: session.label,
      startedAt: session.startedAt,
      endedAt: session.endedAt,
      transport: session.transport,
      command: session.command,
      url: session.url,
      metadata: Object.fromEntries(
        session.metadata.map(([name, text]) => [name, JSON.parse(text) as unknown]),
      ),
      segments: session.segments,
      complete: session.complete,
      exitCode: session.exitCode ?? null,
      durationMs: session.durationMs ?? null,
      signal: session.signal ?? null,
      error: session.error ?? null,
      protocolVersion: session.protocolVersion ?? null,
      eras: session.eras,
      client: session.client ?? null,
      server: session.server ?? null,
    })),
    counts: recording.fold.counts(),
    faults,
  }
}

/** One element of `messages`, as JSON text. The payload is the exact text, not parsed and printed again. */
export function rowJson(row: InspectRow, recordings: readonly LoadedRecording[], verbose: boolean): string {
  const envelope = row.part?.envelope
  const { record } = row
  const fields = {
    recording: recordings.indexOf(row.recording),
    sequence: row.seq < 0 ? null : row.seq,
    timestamp: row.t,
    us: row.us,
    direction: row.kind === 'stderr' ? null : row.direction,
    kind: row.kind,
    proxyId: row.part?.id ?? null,
    method: envelope?.method ?? null,
    subject: envelope?.subject ?? null,
    correlatedId: row.part?.correlatedId ?? null,
    request: row.request ?? null,
    latencyUs: row.latencyUs ?? null,
    sizeBytes: row.sizeBytes,
    error:
      envelope?.kind === 'error'
        ? { code: envelope.errorCode ?? null, message: envelope.errorMessage ?? null }
        : null,
    facts: [...row.facts],
    links: row.part?.links ?? [],
    text: record.type === 'noise' || record.type === 'stderr' ? record.text : null,
    gap:
      record.type === 'gap'
        ? { lost: record.lost, lostBytes: record.lostBytes ?? null, why: record.why }
        : null,
  }
  const id = envelope?.id ?? 'null'
  const payload = verbose && row.raw !== '' ? `,"payload":${row.raw}` : ''
  return `${JSON.stringify(fields).slice(0, -1)},"jsonrpcId":${id}${payload}}`
}
