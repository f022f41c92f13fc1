import { Redactor } from '../../redaction/index.js'
import { escapeLines } from '../../render/index.js'
import type { InspectRow } from '../inspect/inspect-row.js'

/** Imports may never have been redacted, so all output is redacted again. */
export function outputRedactor(): Redactor {
  return new Redactor({ defaults: true, tag: () => '' })
}

/** Redacts a row before snippets are cut, since a piece of a secret is not recognized. */
export function redactRow(row: InspectRow, redactor: Redactor): InspectRow {
  const raw = row.raw === '' ? '' : (redactor.json(row.raw)?.raw ?? row.raw)
  const { record } = row
  if (record.type === 'noise' || record.type === 'stderr')
    return { ...row, raw, record: { ...record, text: redactor.text(record.text) } }
  if (record.type === 'http' && record.body !== undefined)
    return { ...row, raw, record: { ...record, body: redactor.text(record.body) } }
  return { ...row, raw }
}

/**
 * Escapes characters that could control a terminal, change the text direction or be invisible. Includes member
 * names, which come from peers too.
 */
export function visible(value: unknown): unknown {
  if (typeof value === 'string') return escapeLines(value)
  if (Array.isArray(value)) return value.map(visible)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [escapeLines(name), visible(member)]),
  )
}
