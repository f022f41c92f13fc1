import { nearestTo, rowSubject } from '../../filter/index.js'
import { BudgetSpent, compilePath, QueryFault, type CompiledPath } from '../../json-path/index.js'
import { WiretapeError } from '../../model/index.js'
import {
  escapeJson,
  escapeText,
  formatBytes,
  formatDuration,
  pad,
  truncate,
  widthOf,
  type Style,
} from '../../render/index.js'
import { decodeString, kindAt } from '../../wire/index.js'
import { maxOf } from '../extremes.js'
import { wordsOf } from './describe.js'
import type { InspectRow } from './inspect-row.js'

const fieldFormats = ['table', 'tsv', 'jsonl'] as const
export type FieldFormat = (typeof fieldFormats)[number]

type Value = string | number | boolean | null

/** A column of `--fields`. */
interface Field {
  readonly name: string
  readonly value: (row: InspectRow) => Value | ExactJson
  /** Format for people, if different. */
  readonly shown?: (value: Value) => string
  readonly side: 'left' | 'right'
}

/** JSON exactly as on the tape: numbers are not parsed and reprinted. */
class ExactJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

const number = { side: 'left' } as const
const word = { side: 'right' } as const

const knownFields: ReadonlyMap<string, Omit<Field, 'name'>> = new Map([
  ['seq', { ...number, value: ({ seq }) => (seq < 0 ? null : seq) }],
  ['time', { ...word, value: ({ t, us }) => (us === undefined || t === '' ? null : t) }],
  ['offset', { ...number, value: ({ us }) => (us === undefined ? null : us / 1e6) }],
  ['dir', { ...word, value: (row) => subjectOf(row).direction && (isIn(row) ? 'in' : 'out') }],
  ['kind', { ...word, value: ({ kind }) => kind }],
  ['id', { ...word, value: (row) => exact(row.part?.envelope.id) }],
  ['method', { ...word, value: (row) => subjectOf(row).method }],
  ['name', { ...word, value: (row) => subjectOf(row).name }],
  ['tool', { ...word, value: (row) => toolOf(row) }],
  ['status', { ...word, value: (row) => subjectOf(row).status }],
  ['code', { ...word, value: (row) => exact(row.part?.envelope.errorCode) }],
  ['error', { ...word, value: (row) => row.part?.envelope.errorMessage ?? null }],
  ['latency', { ...number, value: (row) => subjectOf(row).latencyMs, shown: duration }],
  ['waited', { ...number, value: (row) => waitedMs(row), shown: duration }],
  ['held', { ...number, value: ({ heldMs }) => heldMs ?? null, shown: duration }],
  ['size', { ...number, value: ({ sizeBytes }) => sizeBytes, shown: (bytes) => formatBytes(Number(bytes)) }],
  ['request', { ...number, value: ({ answers }) => answers ?? null }],
  ['response', { ...number, value: (row) => responseOf(row) }],
  ['facts', { ...word, value: ({ facts }) => [...facts].join(' ') || null }],
  ['rule', { ...word, value: (row) => subjectOf(row).rule }],
  ['conv', { ...word, value: (row) => subjectOf(row).conversation }],
  ['session', { ...word, value: ({ session }) => session?.id ?? null }],
  ['label', { ...word, value: ({ session }) => session?.label ?? null }],
  ['server', { ...word, value: ({ session }) => session?.server?.name ?? null }],
  ['client', { ...word, value: ({ session }) => session?.client?.name ?? null }],
  ['what', { ...word, value: (row) => wordsOf(row).what.text, shown: String }],
  ['raw', { ...word, value: (row) => (row.raw === '' ? null : new ExactJson(row.raw)) }],
])

/** Default fields if only a format is given. */
const usual = 'seq,time,dir,kind,method,name,latency,size'

/**
 * `seq,time,$.params.arguments.q`
 *
 * @throws WiretapeError `usage`
 */
export function parseFields(text: string = usual): readonly Field[] {
  const names = namesIn(text)
  if (names.length === 0) throw new WiretapeError('usage', '--fields needs a field', { hint: allFields() })
  return names.map((name) => {
    if (name.startsWith('$')) return pathField(name)
    const known = knownFields.get(name)
    if (known) return { name, ...known }
    const near = nearestTo(name, knownFields.keys())
    const advice = near === undefined ? '' : `: did you mean ${near}?`
    throw new WiretapeError('usage', `--fields: unknown field ${escapeText(name)}${advice}`, {
      hint: allFields(),
    })
  })
}

function allFields(): string {
  return `known fields: ${[...knownFields.keys()].join(', ')} and JSONPaths such as $.params.arguments.q`
}

/** Commas in brackets belong to a path. */
function namesIn(text: string): string[] {
  const names: string[] = []
  for (const [name] of text.matchAll(/(?:\[(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[^\]'"])*\]|[^,])+/g))
    if (name.trim() !== '') names.push(name.trim())
  return names
}

function pathField(name: string): Field {
  const path = compiled(name)
  return {
    name,
    side: 'right',
    value({ raw }) {
      if (raw === '') return null
      const values = valuesAt(path, raw)
      if (values.length === 0) return null
      return new ExactJson(values.length === 1 ? values[0]! : `[${values.join(',')}]`)
    },
  }
}

function compiled(name: string): CompiledPath {
  try {
    return compilePath(name)
  } catch (problem) {
    if (!(problem instanceof QueryFault)) throw problem
    throw new WiretapeError('usage', `--fields: ${escapeText(name)} ${problem.message}`, { cause: problem })
  }
}

/** None if the path exceeds its time budget. */
function valuesAt(path: CompiledPath, raw: string): readonly string[] {
  try {
    return path.find(raw, { start: 0, end: raw.length }).map(({ start, end }) => raw.slice(start, end))
  } catch (problem) {
    if (problem instanceof BudgetSpent) return []
    throw problem
  }
}

function subjectOf({ recording, row, record, part, request }: InspectRow): ReturnType<typeof rowSubject> {
  const { entries } = recording.fold
  return rowSubject({
    entries,
    row,
    record,
    transport: null,
    ...(part && { part }),
    ...(request && { request }),
  })
}

function isIn({ direction }: InspectRow): boolean {
  return direction === 'client_to_server'
}

function toolOf(row: InspectRow): string | null {
  const { method, name } = subjectOf(row)
  return method === 'tools/call' ? name : null
}

function responseOf({ kind, row, recording }: InspectRow): number | null {
  const { entries } = recording.fold
  const answer = kind === 'request' ? entries.peer(row) : -1
  return answer < 0 ? null : entries.seq(answer)
}

/** For a request, the value of its response. */
function waitedMs({ kind, row, recording }: InspectRow): number | null {
  const { entries } = recording.fold
  const us = entries.waitedUs(kind === 'request' ? entries.peer(row) : row)
  return us === 0 ? null : us / 1000
}

function exact(text: string | undefined): ExactJson | null {
  return text === undefined ? null : new ExactJson(text)
}

function duration(ms: Value): string {
  return formatDuration(Number(ms) * 1000)
}

/** Prints rows by their fields. Ends every line with a line feed. */
export interface FieldPrinter {
  /** Header line. */
  readonly head: string
  line(row: InspectRow): string
}

/** @param examples the first rows, which determine the column widths of a table */
export function createFieldPrinter(
  fields: readonly Field[],
  format: FieldFormat,
  examples: readonly InspectRow[],
  { style, columns = Infinity }: { readonly style: Style; readonly columns: number | undefined },
): FieldPrinter {
  switch (format) {
    case 'jsonl':
      return { head: '', line: (row) => `${jsonOf(fields, row)}\n` }
    case 'tsv':
      return {
        head: `${fields.map(({ name }) => name).join('\t')}\n`,
        line: (row) => `${fields.map((field) => cellOf(field.value(row))).join('\t')}\n`,
      }
    case 'table': {
      const widths = fields.map((field) =>
        Math.min(
          widestColumn,
          maxOf(
            examples.map((row) => widthOf(shownOf(field, row))),
            widthOf(field.name),
          ),
        ),
      )
      const line = (cells: readonly string[]): string => {
        const all = cells.map((cell, i) => {
          const isLast = i === cells.length - 1 && fields[i]!.side === 'right'
          return isLast ? cell : pad(truncate(cell, widths[i]!), widths[i]!, fields[i]!.side)
        })
        return truncate(all.join('  ').trimEnd(), columns)
      }
      return {
        head: `${style.dim(line(fields.map(({ name }) => escapeText(name))))}\n`,
        line: (row) => `${line(fields.map((field) => shownOf(field, row)))}\n`,
      }
    }
  }
}

/** Cells; the last column has no limit. */
const widestColumn = 40
/** Characters of a value in a table. */
const longestShown = 2000

function shownOf(field: Field, row: InspectRow): string {
  const value = field.value(row)
  if (value === null) return ''
  if (!(value instanceof ExactJson) && field.shown) return field.shown(value)
  return escapeText(plainOf(value).slice(0, longestShown))
}

/** A string without quotes, anything else as JSON. */
function plainOf(value: Exclude<Value, null> | ExactJson): string {
  if (!(value instanceof ExactJson)) return String(value)
  const { text } = value
  return kindAt(text, 0) === 'string' ? decodeString(text, 0, text.length) : text
}

const separators: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' }

function cellOf(value: Value | ExactJson): string {
  return value === null ? '' : plainOf(value).replace(/[\t\n\r\\]/g, (found) => separators[found]!)
}

function jsonOf(fields: readonly Field[], row: InspectRow): string {
  const members = fields.map(({ name, value }) => {
    const found = value(row)
    const text = found instanceof ExactJson ? found.text : escapeJson(JSON.stringify(found))
    return `${JSON.stringify(name)}:${text}`
  })
  return `{${members.join(',')}}`
}
