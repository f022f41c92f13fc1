import { policyFiles, policyInForce } from '../../capture/index.js'
import type {
  Policy,
  PolicyFault,
  PolicyInForce,
  PolicyPlace,
  RecordRule,
  Setting,
} from '../../policy/index.js'
import { createStyle, escapeJson, escapeText, formatBytes } from '../../render/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'
import { tableText } from '../table.js'

/** One setting in force. */
interface Row {
  readonly name: string
  /** Machine-readable; null if not set. */
  readonly value: unknown
  readonly words: string
  readonly from: PolicyPlace | null
}

/** Each setting of the policy and its source. */
export async function runStatusPolicy(json: boolean, io: Io): Promise<number> {
  const files = policyFiles()
  const inForce = await policyInForce(files)
  const rows = inForce.kind === 'policy' ? rowsOf(inForce.policy) : []
  if (json) {
    const settings = rows.map(({ name, value, from }) => ({
      name,
      value,
      file: from?.file ?? null,
      line: from?.line ?? null,
    }))
    const state = { none: 'none', policy: 'in-force', broken: 'broken' }[inForce.kind]
    const { why, faults } = inForce.kind === 'broken' ? inForce : { why: null, faults: [] }
    const places = { system: files.system, own: files.own ?? null }
    await io.write(
      `${escapeJson(JSON.stringify({ version: 1, state, why, faults, places, settings }, null, 2))}\n`,
      'data',
    )
  } else await io.write(told(inForce, rows, files.system, io))
  return inForce.kind === 'broken' ? exitCode.found : exitCode.done
}

function told(inForce: PolicyInForce, rows: readonly Row[], system: string, io: Io): string {
  if (inForce.kind === 'none') return `No policy: ${escapeText(system)} does not exist.\n`
  if (inForce.kind === 'broken')
    return `${inForce.faults.map(faultLine).join('')}Nothing is recorded; all messages pass.\n`
  const style = createStyle(io.colours)
  const place = ({ from }: Row): string => (from === null ? 'default' : `${from.file}:${from.line}`)
  return tableText(
    [
      { name: 'setting', texts: rows.map(({ name }) => name), side: 'right' },
      { name: 'value', texts: rows.map(({ words }) => escapeText(words)), side: 'right' },
      { name: 'from', texts: rows.map((row) => escapeText(place(row))), side: 'right' },
    ],
    { style, columns: io.columns },
  )
}

function faultLine({ file, line, message }: PolicyFault): string {
  return `${escapeText(line === null ? `${file} ${message}` : `${file}:${line}: ${message}`)}\n`
}

function rowsOf(policy: Policy): Row[] {
  return [
    ...(policy.record.length === 0
      ? [{ name: 'record', value: 'all', words: 'all servers and clients', from: null }]
      : policy.record.map((setting) => rowOf('record', setting, recordWords))),
    { name: 'redaction', value: 'defaults', words: 'built-in rules, always', from: null },
    ...policy.redact.map((setting) => rowOf('redaction.patterns', setting, String)),
    optional('retention.age', policy.retentionAgeMs, durationWords, 'no limit'),
    optional('retention.size', policy.retentionBytes, formatBytes, 'no limit'),
    optional('quota', policy.quotaBytes, formatBytes, 'no limit'),
    optional('ship.to', policy.shipTo, String, 'recordings stay on this machine'),
    optional('ship.seal.size', policy.sealBytes, formatBytes, 'one file per recording'),
    optional('ship.seal.after', policy.sealAfterMs, durationWords, 'one file per recording'),
    optional('ship.compression', policy.compression, String, 'gzip'),
    optional('ship.nats', policy.nats, (paths) => Object.values(paths).join(', '), 'from the environment'),
    ...(policy.consent.length === 0
      ? [{ name: 'consent', value: null, words: 'no notice', from: null }]
      : policy.consent.map((setting) => rowOf('consent', setting, String))),
  ]
}

function rowOf<T>(name: string, { value, from }: Setting<T>, words: (value: T) => string): Row {
  return { name, value, words: words(value), from }
}

function optional<T>(
  name: string,
  setting: Setting<T> | undefined,
  words: (value: T) => string,
  otherwise: string,
): Row {
  return setting ? rowOf(name, setting, words) : { name, value: null, words: otherwise, from: null }
}

function recordWords(rule: RecordRule): string {
  if (typeof rule === 'string') return rule === 'all' ? 'all servers and clients' : 'nothing'
  const servers = rule.servers ? `servers ${rule.servers.join(', ')}` : 'any server'
  const clients = rule.clients ? `clients ${rule.clients.join(', ')}` : 'any client'
  return `${servers}; ${clients}`
}

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

function durationWords(ms: number): string {
  const [unit, unitMs] = units.find(([, one]) => ms >= one && ms % one === 0) ?? ['ms', 1]
  return `${ms / unitMs}${unit}`
}
