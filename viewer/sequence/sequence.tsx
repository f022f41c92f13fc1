import { computed, signal } from '@preact/signals'
import { isMessageKind } from '../../src/model/index.js'
import { formatDuration } from '../../src/render/index.js'
import { DetailPane } from '../detail/detail.js'
import { nameOf, statusText, timeText, timeWidth } from '../list/row.js'
import { Scroller, type ScrollerHandle } from '../list/scroller.js'
import { clean } from '../shell/clean.js'
import { isSmall } from '../shell/small.js'
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
import { activationsOf, bitOf, mostBeside, type Activations } from './activations.js'

/** Must match the style sheets. */
const rowHeights = { usual: 30, small: 44 } as const

/** On a phone, the row whose details cover the diagram: a row selected in another view leaves it visible. */
const opened = signal(-1)

/** The client on the left, a line for each server, and an arrow for each message shown. */
export function SequencePage() {
  const isCovered = selected.value >= 0 && (!isSmall.value || opened.value === selected.value)
  useEffect(() => () => void (opened.value = -1), [])
  return <Splitter name="sequence" showsSecond={isCovered} first={<Diagram />} second={<DetailPane />} />
}

function open(row: number): void {
  opened.value = row
  select(row)
}

/** The rows of an exchange and the server's requests during it, in order. */
function exchangeOf(row: number): Int32Array {
  const head = headOf(row)
  const asked = askedMeanwhile(head)
  const answers = asked.map((one) => table.peer(one)).filter((answer) => answer >= 0)
  const all = [head, ...membersOf(head), ...asked, ...answers]
  return Int32Array.from(all).toSorted((a, b) => table.at(a) - table.at(b) || a - b)
}

/** Messages, and the open calls at each. */
interface Drawn {
  readonly rows: Int32Array
  readonly bars: Activations
}

const nothing: Drawn = {
  rows: new Int32Array(0),
  bars: { open: new Uint32Array(0), place: new Uint8Array(0) },
}

/** Messages that match filter, lane and range, one by one. */
const passing = sliced<Drawn>(
  nothing,
  () => (view.value === 'sequence' ? [shown.value, grouped.value] : undefined),
  function* () {
    const rows = yield* passingRows()
    return { rows, bars: yield* activationsOf(rows) }
  },
)

function* passingRows(): Generator<void, Int32Array> {
  const items = shown.peek()
  const isGrouped = grouped.peek()
  const isEverything = !filterMatches.peek() && !range.peek() && lane.peek() === 'all'
  if (isEverything) return table.order
  const wanted = new Uint8Array(table.length)
  for (let i = 0; i < items.length; i += 1) {
    if (i % 4096 === 0) yield
    if (!isGrouped) wanted[rowOf(items[i]!)] = 1
    else if (!isNested(items[i]!)) wanted[items[i]!] = 1
  }
  const { order } = table
  const kept = new Int32Array(order.length)
  let count = 0
  for (let i = 0; i < order.length; i += 1) {
    if (i % 4096 === 0) yield
    const row = order[i]!
    if (wanted[row] === 0 && !(isGrouped && wanted[headOf(row)] === 1)) continue
    kept[count] = row
    count += 1
  }
  return kept.subarray(0, count)
}

/** Those messages, or the ones of the selected exchange. */
const messages = computed<Drawn>(() => {
  version.value
  const isChosen = chosenOnly.value && selected.value >= 0 && selected.value < table.length
  if (!isChosen) return passing.value
  const rows = exchangeOf(selected.value)
  const steps = activationsOf(rows)
  for (;;) {
    const next = steps.next()
    if (next.done) return { rows, bars: next.value }
  }
})

function Diagram() {
  const { rows, bars } = messages.value
  const handle = useRef<ScrollerHandle | null>(null)
  const servers = lanes.value.filter(
    (one) => one.state !== 'failed' && (lane.value === 'all' || one.index === lane.value),
  )
  // Long times need more room.
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
      {rows.length === 0 ? (
        <p class="empty">{filtered ? 'No messages match the filter.' : 'No messages.'}</p>
      ) : (
        <Scroller
          count={rows.length}
          rowHeight={isSmall.value ? rowHeights.small : rowHeights.usual}
          label="Sequence of messages"
          columns={1}
          handle={handle}
          row={(index, style, key) => (
            <Arrow
              key={key}
              row={rows[index]!}
              open={bars.open[index] ?? 0}
              beside={bars.place[index] ?? 0}
              index={index}
              style={style}
              clientPlace={clientPlace}
              places={places}
              chosen={chosen}
            />
          )}
        />
      )}
      {chosen >= 0 && (
        <button
          type="button"
          class="chip chosen-only"
          aria-pressed={chosenOnly.value}
          title="Show only the selected exchange (v)"
          onClick={() => (chosenOnly.value = !chosenOnly.value)}
        >
          Only this exchange
        </button>
      )}
    </section>
  )
}

function Arrow(props: {
  readonly row: number
  readonly index: number
  readonly style: { transform: string }
  /** Positions of the lines, in percent of the width. */
  readonly clientPlace: number
  readonly places: ReadonlyMap<number, number>
  readonly chosen: number
  /** The open calls, and the place of the one that begins or ends here. */
  readonly open: number
  readonly beside: number
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
  // wiretape is in the middle: its own messages begin there, and messages not forwarded end there.
  const middle = (clientPlace + place) / 2
  const left = (fromServer ? stopped : ours) ? middle : clientPlace
  const right = (fromServer ? ours : stopped) ? middle : place
  const isBeside = kind === 'note' || !isMessageKind(kind)
  // At the receiver of the call, the arrow ends at the bar.
  const byServer = isAnswer === fromServer
  const hasBar = props.beside > 0
  const shift = hasBar ? (props.beside - 1) * barStep - barWidth / 2 : 0
  return (
    <div
      class={`arrow-row kind-${kind} is-${statusOf(row)} ${fromServer ? 'from-server' : 'from-client'} ${row === chosen ? 'selected' : ''} ${related ? 'related' : ''}`}
      style={props.style}
      role="row"
      aria-rowindex={props.index + 1}
      aria-selected={row === chosen}
      onClick={() => open(row)}
    >
      <span role="gridcell" class="arrow-cell">
        <span class="arrow-time">{timeText(row, origin.value)}</span>
        {[clientPlace, ...places.values()].map((at, i) => (
          <i key={i} class="lifeline" style={{ left: `${at}%` }} />
        ))}
        <Bars {...props} isAnswer={isAnswer} byServer={byServer} />
        {isBeside ? (
          <span class="beside" style={{ right: `${100 - place + 1}%` }}>
            {clean(name)} {clean(subject)}
          </span>
        ) : (
          <span
            class={`shaft ${isAnswer ? 'answer' : ''} ${ours ? 'ours' : ''}`}
            style={{
              left: `calc(${left}% + ${!hasBar || byServer || fromServer === ours || stopped ? 0 : shift + barWidth}px)`,
              right: `calc(${100 - right}% - ${byServer && right === place ? shift : 0}px)`,
            }}
            title={ours ? oursOf(row) : stopped ? 'not forwarded' : undefined}
          >
            <span class="arrow-label">
              {isAnswer ? (
                <>
                  <b>{clean(statusText(row).text || kind)}</b>{' '}
                  {clean(name.replace(/^(?:result|error) of /, ''))} {clean(subject)}{' '}
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

/** Pixels. */
const barWidth = 6
const barStep = 8

/** A bar for each open call; parallel calls are beside each other. */
function Bars(props: {
  readonly row: number
  readonly open: number
  readonly beside: number
  readonly clientPlace: number
  readonly places: ReadonlyMap<number, number>
  readonly isAnswer: boolean
  readonly byServer: boolean
}) {
  const { row, open, beside, clientPlace, places, isAnswer, byServer } = props
  if (open === 0) return null
  const lines = [
    ...[...places].map(([lane, at]) => ({ lane, at, fromServer: false })),
    { lane: 0, at: clientPlace, fromServer: true },
  ]
  return (
    <>
      {lines.flatMap(({ lane, at, fromServer }) =>
        Array.from({ length: mostBeside }, (_, i) => {
          if (lane >= 7 || (open & bitOf(lane, fromServer, i + 1)) === 0) return null
          const isOwn =
            beside === i + 1 && byServer !== fromServer && (fromServer || lane === table.lane(row))
          const cut = isOwn ? (isAnswer ? 'ends' : 'begins') : ''
          return (
            <i
              key={`${lane} ${String(fromServer)} ${i}`}
              class={`activation ${fromServer ? 'client' : `lane-${lane % 8}`} ${cut}`}
              style={{ left: `calc(${at}% + ${i * barStep - barWidth / 2}px)` }}
            />
          )
        }),
      )}
    </>
  )
}
