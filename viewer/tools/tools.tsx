import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { countOf, formatBytes, formatCount, formatDuration } from '../../src/render/index.js'
import { quoteValue } from '../../src/filter/index.js'
import { clean } from '../shell/clean.js'
import { reader, search, select, tellFailure } from '../store/actions.js'
import { watchFindings } from '../store/findings.js'
import { laneName, shownLanes } from '../store/lane-name.js'
import {
  filterMatches,
  lane,
  lanes,
  range,
  reading,
  toolsOrder,
  version,
  view,
  type ToolsKey,
} from '../store/state.js'
import { Offers } from './offers.js'
import type { LaneUsage, OfferHistory, Usage } from '../worker/tools.js'

const columns: readonly { readonly key: ToolsKey; readonly name: string }[] = [
  { key: 'name', name: 'request' },
  { key: 'calls', name: 'calls' },
  { key: 'errors', name: 'errors' },
  { key: 'p50Us', name: 'p50' },
  { key: 'p95Us', name: 'p95' },
  { key: 'maxUs', name: 'slowest' },
  { key: 'sizeBytes', name: 'bytes' },
]

/** Calls by method and subject, with outcomes and latencies; and the definitions that the server offers. */
export function ToolsPage() {
  useEffect(() => watchFindings(false), [])
  const usage = useSignal<readonly LaneUsage[] | undefined>(undefined)
  const offers = useSignal<readonly OfferHistory[]>([])
  const matches = filterMatches.value
  const between = range.value
  // Refreshes less often while rows stream in.
  const stamp = reading.value ? Math.floor(version.value / 40) : version.value
  useEffect(() => {
    let gone = false
    const load = async (): Promise<void> => {
      const found = await reader().call<readonly LaneUsage[]>('usage', [between])
      if (!gone) usage.value = found
      if (reading.peek()) return
      const offered = await reader().call<readonly OfferHistory[]>('offers', [])
      if (!gone) offers.value = offered
    }
    load().catch(tellFailure)
    return () => {
      gone = true
    }
  }, [stamp, reading.value, matches?.text, matches?.count, matches?.done, between])

  const shown = (usage.value ?? []).filter((_, index) => lane.value === 'all' || index === lane.value)
  const all = shown.flatMap(({ groups }) => groups)
  const otherErrors = shown.reduce((sum, one) => sum + one.otherErrors, 0)
  const of = shownLanes()
  const histories = offers.value.filter((one) => lane.value === 'all' || one.lane === lane.value)
  return (
    <div class="page tools-page" tabIndex={0} role="region" aria-label="Tools">
      <section>
        <h2>
          Usage{of !== undefined && ` in ${clean(of)}`}
          {of !== undefined && lane.value === 'all' && (
            <span class="quiet about"> · counted separately; choose one at the top</span>
          )}
        </h2>
        {usage.value === undefined ? (
          <p class="empty">Counting…</p>
        ) : all.length === 0 ? (
          <p class="empty">{matches || between ? 'No calls match the filter.' : 'No calls yet.'}</p>
        ) : (
          <div class="scroll-narrow">
            <UsageTable all={all} />
          </div>
        )}
        {otherErrors > 0 && (
          <p class="quiet other-errors">
            Besides these calls: {countOf(otherErrors, 'error response')} without a request.
          </p>
        )}
      </section>
      {histories.map((history) => (
        <Offers key={history.lane} history={history} />
      ))}
    </div>
  )
}

/** One row per method and subject; a click on a column's name sorts by it. */
function UsageTable({ all }: { readonly all: readonly Usage[] }) {
  const order = toolsOrder.value
  const sorted = all.toSorted((a, b) => compare(a, b, order.key) * (order.down ? -1 : 1))
  const slowest = Math.max(1, ...all.map(({ maxUs }) => maxUs ?? 0))
  return (
    <table class="grid">
      <thead>
        <tr>
          {columns.map(({ key, name }) => (
            <th
              key={key}
              scope="col"
              class={key === 'name' ? '' : 'number'}
              aria-sort={order.key !== key ? 'none' : order.down ? 'descending' : 'ascending'}
            >
              <button
                type="button"
                class="bare"
                onClick={() =>
                  (toolsOrder.value = {
                    key,
                    down: order.key === key ? !order.down : key !== 'name',
                  })
                }
              >
                {name}
                <span aria-hidden="true">{order.key !== key ? '' : order.down ? ' ↓' : ' ↑'}</span>
              </button>
            </th>
          ))}
          <th scope="col" class="latency-bar">
            <span class="quiet">latency</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {sorted.map((one) => (
          <UsageRow
            key={`${one.lane} ${one.method} ${one.subject} ${one.fromServer}`}
            one={one}
            slowest={slowest}
          />
        ))}
      </tbody>
    </table>
  )
}

function compare(a: Usage, b: Usage, key: ToolsKey): number {
  if (key === 'name') return nameOf(a).localeCompare(nameOf(b))
  if (key === 'errors')
    return a.errors / Math.max(1, a.calls) - b.errors / Math.max(1, b.calls) || a.errors - b.errors
  return (a[key] ?? -1) - (b[key] ?? -1)
}

function nameOf(one: Usage): string {
  return one.subject === '' ? one.method : `${one.method} ${one.subject}`
}

/** Shows the calls of one table row in the list. */
function showCalls({ method, subject }: Usage): void {
  const key = { 'tools/call': 'tool', 'prompts/get': 'prompt' }[method] ?? 'name'
  search('filter', `method:${quoteValue(method)}${subject === '' ? '' : ` ${key}:${quoteValue(subject)}`}`)
  view.value = 'messages'
}

function UsageRow({ one, slowest }: { readonly one: Usage; readonly slowest: number }) {
  const share = one.calls === 0 ? 1 : Math.min(1, one.errors / one.calls)
  /** Logarithmic scale: a millisecond stays visible beside a minute. */
  const place = (us: number): number =>
    (Math.log10(Math.max(us, 100)) - 2) / Math.max(0.1, Math.log10(Math.max(slowest, 1000)) - 2)
  return (
    <tr>
      <th scope="row">
        <i class={`swatch lane-${one.lane % 8}`} />
        <button type="button" class="bare link-like" title="Show these calls" onClick={() => showCalls(one)}>
          <span class="method">{clean(one.method)}</span> <b>{clean(one.subject)}</b>
        </button>
        {lanes.value.length > 1 && (
          <span class="quiet lane-of"> {clean(laneName(lanes.value[one.lane]!))}</span>
        )}
        {one.fromServer && <em class="tag">from the server</em>}
      </th>
      <td class="number">{formatCount(one.calls)}</td>
      <td class={`number ${one.errors > 0 ? 'bad' : ''}`} title={countOf(one.errors, 'error')}>
        {one.errors > 0 && (
          <>
            {formatCount(one.errors)} <span class="quiet">{Math.round(share * 100)} %</span>
          </>
        )}
        {one.unanswered > 0 && (
          <span class="warn-words" title="requests without a response">
            {' '}
            {formatCount(one.unanswered)}{' '}
            {lanes.value[one.lane]?.state === 'following' ? 'waiting' : 'unanswered'}
          </span>
        )}
        {one.cancelled > 0 && <span class="quiet"> {formatCount(one.cancelled)} cancelled</span>}
      </td>
      <td class="number">{one.p50Us === undefined ? '' : formatDuration(one.p50Us)}</td>
      <td class="number">{one.p95Us === undefined ? '' : formatDuration(one.p95Us)}</td>
      <td class="number">
        {one.maxUs !== undefined && (
          <button
            type="button"
            class="bare link-like"
            title="Show the slowest call"
            onClick={() => {
              select(one.slowest)
              view.value = 'messages'
            }}
          >
            {formatDuration(one.maxUs)}
          </button>
        )}
      </td>
      <td class="number">{formatBytes(one.sizeBytes)}</td>
      <td class="latency-bar" aria-hidden="true">
        {one.maxUs !== undefined && (
          <span class={`bar lane-${one.lane % 8}`}>
            <i style={{ left: `${place(one.p50Us!) * 100}%`, right: `${100 - place(one.maxUs) * 100}%` }} />
            <b style={{ left: `${place(one.p95Us!) * 100}%` }} />
          </span>
        )}
      </td>
    </tr>
  )
}
