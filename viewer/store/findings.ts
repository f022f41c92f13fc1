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

/** Requests findings, now and whenever rows arrive. */
export function watchFindings(): void {
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
      tellFailure(error)
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
