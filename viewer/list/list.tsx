import { useEffect, useRef } from 'preact/hooks'
import {
  expanded,
  filterMatches,
  follow,
  grouped,
  highlightMatches,
  lanes,
  origin,
  range,
  reading,
  selected,
  table,
  version,
} from '../store/state.js'
import { indexOfRow, isNested, rowOf, shown } from '../store/shown.js'
import { headOf } from '../store/exchange.js'
import { findings, suppressed } from '../store/findings.js'
import { contentsVersion } from '../store/contents.js'
import { clean } from '../shell/clean.js'
import { clientConfiguration } from '../shell/client-configuration.js'
import { copyText } from '../shell/clipboard.js'
import { Failures } from '../shell/failures.js'
import type { Lane } from '../worker/protocol.js'
import { chooseFiles, clearFilters, select } from '../store/actions.js'
import { isSmall } from '../shell/small.js'
import { Head, layoutClasses, layoutStyle } from './columns.js'
import { openRowMenu, openRowMenuAt } from './row-menu.js'
import { Row, timeWidth } from './row.js'
import { Scroller, type ScrollerHandle } from './scroller.js'

/** Pixels; must match the style sheets. */
const rowHeights = { usual: 26, small: 44 } as const
/** For keys that move the selection. */
export const listHandle: { current: ScrollerHandle | null } = { current: null }

export function toggle(row: number): void {
  const open = new Set(expanded.value)
  if (!open.delete(row)) open.add(row)
  expanded.value = open
}

export function List() {
  version.value
  contentsVersion.value
  findings.value
  suppressed.value
  const items = shown.value
  const chosen = selected.value
  const head = useRef(-1)
  const matches = filterMatches.value
  const highlights = highlightMatches.value
  const span = range.value ?? ([origin.value, newest()] as const)

  useEffect(() => {
    if (follow.value) listHandle.current?.toEnd()
  }, [items.length, follow.value])

  useEffect(() => {
    if (chosen < 0 || chosen === head.current) return
    head.current = chosen
    const index = indexOfRow(chosen)
    if (index >= 0) listHandle.current?.reveal(index)
  }, [chosen])

  return (
    <section
      class={`list ${lanes.value.length > 1 ? '' : 'one-lane'} ${layoutClasses()}`}
      aria-label="Messages"
      style={layoutStyle(timeWidth(newest() - origin.value))}
      onContextMenu={openRowMenu}
    >
      <Head />
      {items.length === 0 ? (
        <Nothing />
      ) : (
        <Scroller
          count={items.length}
          rowHeight={isSmall.value ? rowHeights.small : rowHeights.usual}
          label="Messages"
          columns={isSmall.value ? 12 : 11}
          handle={listHandle}
          active={chosen >= 0 ? `row-${chosen}` : undefined}
          onUserScroll={() => {
            follow.value = false
          }}
          row={(index, style, key) => {
            const item = items[index]!
            const row = rowOf(item)
            return (
              <Row
                key={key}
                index={index}
                row={row}
                nested={isNested(item)}
                open={expanded.value.has(row)}
                selected={row === chosen}
                highlighted={
                  highlights?.has(row) === true || (grouped.value && hasHighlight(row, highlights))
                }
                dimmed={matches !== undefined && isNested(item) && !matches.has(row)}
                grouped={grouped.value}
                origin={origin.value}
                span={span}
                style={style}
                onSelect={select}
                onToggle={toggle}
                {...(isSmall.value && { onMenu: openRowMenuAt })}
              />
            )
          }}
        />
      )}
      {items.length > 0 && <StillWaiting />}
    </section>
  )
}

/** Time of the newest row. */
function newest(): number {
  const { order } = table
  return order.length === 0 ? 0 : table.at(order[order.length - 1]!)
}

/** A folded exchange is marked if its response matches. */
function hasHighlight(row: number, highlights: typeof highlightMatches.value): boolean {
  if (!highlights || headOf(row) !== row) return false
  const answer = table.peer(row)
  return answer >= 0 && highlights.has(answer)
}

/** Shown if no recording could be read: the reason, and what to do. */
export function NothingOpened() {
  return (
    <div class="empty">
      <Failures />
      <button type="button" class="button" onClick={chooseFiles}>
        Open another file…
      </button>
    </div>
  )
}

/** A live capture without messages from a client. */
function Waiting({ one }: { readonly one: Lane }) {
  const [session] = one.sessions
  const text =
    session && session.url === null ? clientConfiguration(session.label, session.command) : undefined
  return (
    <div class="empty">
      <p>
        <i class="live-dot" /> Waiting for the first message.
      </p>
      {text === undefined ? (
        <p>Connect a client to the URL that wiretape printed.</p>
      ) : (
        <>
          <p>Use this client configuration to start the server through wiretape:</p>
          <pre tabIndex={0}>{text.split('\n').map(clean).join('\n')}</pre>
          <button
            type="button"
            class="button"
            onClick={() => void copyText(() => text, { text: 'Copied.', tone: 'plain' })}
          >
            Copy
          </button>
        </>
      )}
    </div>
  )
}

/** Most servers write to stderr before the first message of a client. */
function StillWaiting() {
  const mostLines = 200
  if (table.length > mostLines) return null
  for (let row = 0; row < table.length; row += 1) if (table.seq(row) >= 0) return null
  const waiting = lanes.value.find((one) => one?.state === 'following')
  return waiting ? <Waiting one={waiting} /> : null
}

function Nothing() {
  if (table.length === 0) {
    const waiting = lanes.value.find((one) => one?.state === 'following')
    if (waiting) return <Waiting one={waiting} />
    return <p class="empty">{reading.value ? 'Reading…' : 'This recording has no messages.'}</p>
  }
  const filtered = filterMatches.value !== undefined || range.value !== undefined
  return (
    <div class="empty">
      <p>{filterMatches.value?.done === false ? 'Searching…' : 'No messages match the filter.'}</p>
      {filtered && (
        <button type="button" class="button" onClick={clearFilters}>
          Clear the filter
        </button>
      )}
    </div>
  )
}
