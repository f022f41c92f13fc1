import { effect, signal } from '@preact/signals'
import { levels, type Level } from '../../src/findings/index.js'
import type { FindingsList, ToldFinding } from '../worker/protocol.js'
import { remember, remembered } from '../shell/memory.js'
import { reader, tellFailure } from './actions.js'
import { lanes, reading, table, version } from './state.js'

/** Findings in all open recordings; undefined until first requested. */
export const findings = signal<FindingsList | undefined>(undefined)
/** The levels that are listed. */
export const shownLevels = signal<ReadonlySet<Level>>(new Set<Level>(levels))
export const groupings = ['level', 'rule', 'message'] as const
export type Grouping = (typeof groupings)[number]
/** How findings are grouped. */
export const findingsBy = signal<Grouping>('rule')
/** Whether suppressed findings are listed too. */
export const showsSuppressed = signal(false)

/** Fingerprints that the user suppressed in this browser. */
const mostSuppressed = 2_000
export const suppressed = signal<ReadonlySet<string>>(
  new Set((remembered('suppressed') ?? '').split(' ').filter((hash) => /^[0-9a-f]{16}$/.test(hash))),
)

export function suppress(hash: string, isOn: boolean): void {
  const next = new Set(suppressed.value)
  if (isOn) next.add(hash)
  else next.delete(hash)
  suppressed.value = new Set([...next].slice(-mostSuppressed))
  remember('suppressed', [...suppressed.value].join(' '))
}

const pauseMs = 1_000
let isWatching = false

/** Recordings up to this size are checked without a request: for larger ones, the worker has better things to do. */
const mostUnaskedBytes = 16 << 20

/** Requests findings once the recordings are read, so that rows show them. */
export function findUnasked(): void {
  const stop = effect(() => {
    if (lanes.value.length === 0 || reading.value || table.length === 0) return
    const sizeBytes = lanes.value.reduce((sum, one) => sum + one.bytesRead, 0)
    if (sizeBytes <= mostUnaskedBytes) setTimeout(() => watchFindings(false), pauseMs)
    queueMicrotask(() => stop())
  })
}

/**
 * Requests findings, now and whenever rows arrive.
 *
 * @param isAsked by the user, who is then told of a failure
 */
export function watchFindings(isAsked = true): void {
  if (isWatching) return
  isWatching = true
  let looked = -1
  let timer: ReturnType<typeof setTimeout> | undefined
  let isBusy = false
  const look = async (): Promise<void> => {
    if (isBusy) return
    isBusy = true
    looked = version.peek()
    try {
      findings.value = await reader().call<FindingsList>('findings', [])
    } catch (error) {
      if (isAsked) tellFailure(error)
    } finally {
      isBusy = false
    }
    if (looked !== version.peek()) later()
  }
  const later = (): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      void look()
    }, pauseMs)
  }
  effect(() => {
    version.value
    if (lanes.value.length === 0 || reading.value || table.length === 0) return
    if (looked < 0) void look()
    else later()
  })
}

let byTool: { readonly of: FindingsList; readonly tools: ReadonlyMap<string, ToldFinding[]> } | undefined

/** Findings about a tool, except suppressed ones; empty until the rules have run. */
export function findingsOfTool(lane: number, tool: string): readonly ToldFinding[] {
  const list = findings.value
  if (!list) return []
  if (byTool?.of !== list) {
    const tools = new Map<string, ToldFinding[]>()
    for (const finding of list.findings) {
      if (finding.tool === '') continue
      const key = `${finding.lane} ${finding.tool}`
      const known = tools.get(key)
      if (known) known.push(finding)
      else tools.set(key, [finding])
    }
    byTool = { of: list, tools }
  }
  return (byTool.tools.get(`${lane} ${tool}`) ?? []).filter(({ hash }) => !suppressed.value.has(hash))
}

/** Findings that a change of a definition shows. */
export function findingsOfChange(
  lane: number,
  row: number,
  kind: string,
  name: string,
): readonly ToldFinding[] {
  const all = kind === 'tool' ? findingsOfTool(lane, name) : (findings.value?.findings ?? [])
  return all.filter(
    (one) =>
      one.lane === lane &&
      one.rows.includes(row) &&
      (kind === 'tool' || (one.tool === '' && one.message.includes(` ${name} `))) &&
      !suppressed.value.has(one.hash),
  )
}

let byRow: { readonly of: FindingsList; readonly rows: ReadonlyMap<number, ToldFinding> } | undefined

/** The most severe finding that a row shows; errors and warnings only. */
export function findingOf(row: number): ToldFinding | undefined {
  const list = findings.value
  if (!list) return undefined
  if (byRow?.of !== list) {
    const rows = new Map<number, ToldFinding>()
    for (const finding of list.findings) {
      if (finding.level === 'note') continue
      for (const one of finding.rows) {
        const known = rows.get(one)
        if (!known || (known.level === 'warning' && finding.level === 'error')) rows.set(one, finding)
      }
    }
    byRow = { of: list, rows }
  }
  const found = byRow.rows.get(row)
  return found && suppressed.value.has(found.hash) ? undefined : found
}
