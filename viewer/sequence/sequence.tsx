import { computed } from '@preact/signals'
import { isMessageKind } from '../../src/model/index.js'
import { formatDuration } from '../../src/render/index.js'
import { DetailPane } from '../detail/detail.js'
import { nameOf, statusText, timeText, timeWidth } from '../list/row.js'
import { Scroller, type ScrollerHandle } from '../list/scroller.js'
import { clean } from '../shell/clean.js'
import { Splitter } from '../shell/splitter.js'
import { askedMeanwhile, headOf, latencyOf, membersOf, oursOf, statusOf } from '../store/exchange.js'
import { select } from '../store/actions.js'
import { laneName } from '../store/lane-name.js'
import { isNested, rowOf, shown } from '../store/shown.js'
import { sliced } from '../store/sliced.js'
import {
  chosenOnly,
  filterMatches,
  grouped,
  lane,
  lanes,
  origin,
  range,
  selected,
  table,
  version,
  view,
} from '../store/state.js'
import { useEffect, useRef } from 'preact/hooks'

const rowHeight = 30

/** Client on the left, a line for each server: every message of what is shown as an arrow. */
export function SequencePage() {
  return (
    <Splitter name="sequence" showsSecond={selected.value >= 0} first={<Diagram />} second={<DetailPane />} />
  )
}

/** An exchange with all that belongs to it and what was asked meanwhile, in order. */
function exchangeOf(row: number): Int32Array {
  const head = headOf(row)
  const asked = askedMeanwhile(head)
  const answers = asked.map((one) => table.peer(one)).filter((answer) => answer >= 0)
  const all = [head, ...membersOf(head), ...asked, ...answers]
  return Int32Array.from(all).toSorted((a, b) => table.at(a) - table.at(b) || a - b)
}

/** Messages of what passes filter, lane and range, each by itself. */
const passing = sliced<Int32Array>(
  new Int32Array(0),
  () => (view.value === 'sequence' ? [shown.value, grouped.value] : undefined),
  function* () {
    const items = shown.peek()
    if (!grouped.peek()) return items.map(rowOf)
    const isEverything = !filterMatches.peek() && !range.peek() && lane.peek() === 'all'
    if (isEverything) return table.order
    const wanted = new Uint8Array(table.length)
    for (let i = 0; i < items.length; i += 1) {
      if (i % 4096 === 0) yield
      if (!isNested(items[i]!)) wanted[items[i]!] = 1
    }
    const { order } = table
    const kept = new Int32Array(order.length)
    let count = 0
    for (let i = 0; i < order.length; i += 1) {
      if (i % 4096 === 0) yield
      const row = order[i]!
      if (wanted[headOf(row)] === 0 && wanted[row] === 0) continue
      kept[count] = row
      count += 1
    }
    return kept.subarray(0, count)
  },
)

/** Those, or the messages of the chosen exchange. */
const messages = computed<Int32Array>(() => {
  version.value
  const isChosen = chosenOnly.value && selected.value >= 0 && selected.value < table.length
  return isChosen ? exchangeOf(selected.value) : passing.value
})

function Diagram() {
  const rows = messages.value
  const handle = useRef<ScrollerHandle | null>(null)
  const servers = lanes.value.filter(
    (one) => one.state !== 'failed' && (lane.value === 'all' || one.index === lane.value),
  )
  // Long times need room.
  const last = rows.length === 0 ? 0 : table.at(rows[rows.length - 1]!)
  const clientPlace = timeWidth(last - origin.value) === undefined ? 12 : 24
  const gap = (82 - clientPlace) / Math.max(1, servers.length)
  const places = new Map(servers.map((one, i) => [one.index, clientPlace + (i + 1) * gap]))
  const chosen = selected.value
  useEffect(() => {
    const index = rows.indexOf(chosen)
    if (index >= 0) handle.current?.reveal(index)
  }, [chosen])
  const filtered = filterMatches.value !== undefined || range.value !== undefined
  return (
    <section class="sequence" aria-label="Sequence diagram">
      <div class="actors" aria-hidden="true">
        <span class="actor client" style={{ left: `${clientPlace}%` }}>
          <span>{clean(servers[0]?.sessions[0]?.client?.name ?? 'client')}</span>
        </span>
        {servers.map((one) => (
          <span
            key={one.index}
            class="actor"
            title={clean(`${laneName(one)} · ${one.sessions[0]?.server?.name ?? ''}`)}
            style={{ left: `${places.get(one.index)!}%`, maxWidth: `${Math.min(30, gap)}%` }}
          >
            <i class={`swatch lane-${one.index % 8}`} />
            <span>
              {clean(servers.length > 1 ? laneName(one) : (one.sessions[0]?.server?.name ?? laneName(one)))}
            </span>
          </span>
        ))}
      </div>
      {chosen >= 0 && (
        <button
          type="button"
          class="chip chosen-only"
          aria-pressed={chosenOnly.value}
          title="The chosen exchange by itself, or everything (v)"
          onClick={() => (chosenOnly.value = !chosenOnly.value)}
        >
          Only this exchange
        </button>
      )}
      {rows.length === 0 ? (
        <p class="empty">{filtered ? 'Nothing matches.' : 'No messages.'}</p>
      ) : (
        <Scroller
          count={rows.length}
          rowHeight={rowHeight}
          label="Sequence of messages"
          columns={1}
          handle={handle}
          row={(index, style, key) => (
            <Arrow
              key={key}
              row={rows[index]!}
              index={index}
              style={style}
              clientPlace={clientPlace}
              places={places}
              chosen={chosen}
            />
          )}
        />
      )}
    </section>
  )
}

function Arrow(props: {
  readonly row: number
  readonly index: number
  readonly style: { transform: string }
  /** Of the lines, in percent of the width. */
  readonly clientPlace: number
  readonly places: ReadonlyMap<number, number>
  readonly chosen: number
}) {
  const { row, clientPlace, places, chosen } = props
  const place = places.get(table.lane(row)) ?? 82
  const kind = table.kind(row)
  const fromServer = table.has(row, 'fromServer')
  const { name, subject } = nameOf(row)
  const isAnswer = kind === 'result' || kind === 'error'
  const latency = isAnswer ? latencyOf(row) : undefined
  const related = chosen >= 0 && headOf(row) === headOf(chosen)
  const ours = table.has(row, 'injected')
  const stopped = table.has(row, 'dropped') || table.has(row, 'waiting')
  // wiretape stands in the middle: what it says begins there, and what it keeps back ends there.
  const middle = (clientPlace + place) / 2
  const left = (fromServer ? stopped : ours) ? middle : clientPlace
  const right = (fromServer ? ours : stopped) ? middle : place
  const beside = kind === 'note' || !isMessageKind(kind)
  return (
    <div
      class={`arrow-row kind-${kind} is-${statusOf(row)} ${fromServer ? 'from-server' : 'from-client'} ${row === chosen ? 'selected' : ''} ${related ? 'related' : ''}`}
      style={props.style}
      role="row"
      aria-rowindex={props.index + 1}
      aria-selected={row === chosen}
      onClick={() => select(row)}
    >
      <span role="gridcell" class="arrow-cell">
        <span class="arrow-time">{timeText(row, origin.value)}</span>
        {[clientPlace, ...places.values()].map((at, i) => (
          <i key={i} class="lifeline" style={{ left: `${at}%` }} />
        ))}
        {beside ? (
          <span class="beside" style={{ right: `${100 - place + 1}%` }}>
            {clean(name)} {clean(subject)}
          </span>
        ) : (
          <span
            class={`shaft ${isAnswer ? 'answer' : ''} ${ours ? 'ours' : ''}`}
            style={{ left: `${left}%`, right: `${100 - right}%` }}
            title={ours ? oursOf(row) : stopped ? 'not passed on' : undefined}
          >
            <span class="arrow-label">
              {isAnswer ? (
                <>
                  <b>{clean(statusText(row).text || kind)}</b>{' '}
                  {clean(name.replace(/^(?:result|error) of /, ''))}{' '}
                  {latency !== undefined && <em>{formatDuration(latency)}</em>}
                </>
              ) : (
                <>
                  <b>{clean(name)}</b> {clean(subject)}
                </>
              )}
            </span>
          </span>
        )}
      </span>
    </div>
  )
}
