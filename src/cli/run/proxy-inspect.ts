import { createDroppedFrames, viewSession, type SessionRow } from '../../formats/index.js'
import { escapeJson, escapeText, indentJson } from '../../render/index.js'
import { createComplaints } from '../complaints.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { recordingPath } from '../recording-name.js'
import { openOne } from '../transfer.js'

export interface ProxyInspectOptions {
  readonly sessionFile: string
  readonly verbose?: boolean
}

/** Indentation of each line of a message's payload. */
const margin = '       '

export async function runProxyInspect(options: ProxyInspectOptions, io: Io): Promise<number> {
  const { recording, close } = await openOne([await recordingPath(options.sessionFile, io)], io)
  try {
    const complaints = createComplaints()
    const view = await viewSession({ records: () => recording.records() })
    let count = 0
    const dropped = createDroppedFrames()
    for await (const record of recording.records(complaints.input)) {
      for (const { held } of dropped.see(record)) count += held.parts.length
      if (record.type === 'message') count += record.parts.length
    }
    for (const { held } of dropped.rest()) count += held.parts.length
    const head = [`Session: ${escapeText(view.id)}`, `Transport: ${escapeText(view.transport)}`]
    if (view.serverCommand) head.push(`Server command: ${escapeText(view.serverCommand)}`)
    if (view.serverUrl) head.push(`Server URL: ${escapeText(view.serverUrl)}`)
    await io.write(`${head.join('\n')}\nMessages: ${count}\n\n`)
    if (options.verbose && count > 0 && view.redaction === 'none') {
      await io.complain(`${options.sessionFile} is not redacted: its payloads are printed as they were sent`)
    }
    for await (const row of view.rows()) {
      await io.write(`${lineOf(row)}\n`)
      if (options.verbose && !(await io.write(payloadsOf(row)))) break
    }
    await complaints.tell(io)
    return exitCode.done
  } finally {
    await close()
  }
}

function lineOf(row: SessionRow): string {
  const arrow = row.direction === 'client_to_server' ? '>' : '<'
  const what = row.method ?? (row.invalid ? '(invalid)' : '(response)')
  const id = row.jsonrpcId === null ? '' : ` id=${row.jsonrpcId}`
  const corr = row.correlatedId === null ? '' : ` corr=${row.correlatedId}`
  const text = `#${String(row.sequence).padStart(3, '0')} ${arrow} ${what}${id}${corr}`
  const marks = row.modified ? ' [MODIFIED]' : ''
  if (row.dropped === undefined) return `  ${escapeText(text)}${marks}`
  const fate = row.dropped === 'dropped' ? 'DROPPED' : `ANSWERED BY ${row.dropped}`
  return `  ${escapeText(text)}${marks} [${escapeText(fate)}]`
}

function payloadsOf(row: SessionRow): string {
  const original = row.original === undefined ? '' : block(row.original, '[original] ')
  return block(row.payload, '') + original
}

function block(json: string, title: string): string {
  return `${margin}${title}${escapeJson(indentJson(json)).replaceAll('\n', `\n${margin}`)}\n`
}
