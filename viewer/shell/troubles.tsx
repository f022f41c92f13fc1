import { countOf } from '../../src/render/index.js'
import { narrowed, typedFilter } from '../filter/filter-bar.js'
import { search, select } from '../store/actions.js'
import { troublesOf } from '../store/trouble-count.js'
import { dialog, lane, lanes, reading, version, view } from '../store/state.js'
import { Icon } from './icons.js'

/** Problems, at the top of the page: errors, retried calls, gaps, recordings without an end. */
export function Troubles() {
  version.value
  if (reading.value) return null
  const { errors, again, firstAgain, lost, firstLost } = troublesOf(lane.value)
  const shown = lanes.value.filter((one) => one && (lane.value === 'all' || one.index === lane.value))
  const cut = shown.filter((one) => {
    const session = one.sessions.at(-1)
    if (one.state !== 'done' || one.format !== 'trace-v1' || !session) return false
    return session.recovered === true || (!session.complete && !session.continues)
  })
  const items: readonly (readonly [text: string, title: string, run: () => void])[] = [
    ...(errors > 0 ? [[countOf(errors, 'error'), 'Show only errors', showErrors] as const] : []),
    ...(again > 0
      ? [
          [
            `${countOf(again, 'call')} tried again`,
            'Calls of a tool whose call before failed: go to the first',
            () => go(firstAgain),
          ] as const,
        ]
      : []),
    ...(lost > 0
      ? [[`${countOf(lost, 'gap')} in the recording`, 'Go to the first', () => go(firstLost)] as const]
      : []),
    ...(cut.length > 0
      ? [
          [
            cut.length === 1 && shown.length === 1
              ? cut[0]!.sessions.at(-1)?.recovered
                ? 'recovered, end unknown'
                : 'cut off: the recording has no end'
              : `${countOf(cut.length, 'recording')} without an end`,
            'About the recording',
            () => (dialog.value = 'session'),
          ] as const,
        ]
      : []),
  ]
  if (items.length === 0) return null
  return (
    <div class="troubles" role="group" aria-label="What went wrong">
      <Icon name="warn" />
      {items.map(([text, title, run]) => (
        <button key={title} type="button" class="bare" title={title} onClick={run}>
          {text}
        </button>
      ))}
    </div>
  )
}

const errorsOnly = '(is:error or status:error)'

function showErrors(): void {
  view.value = 'messages'
  if (!typedFilter().includes(errorsOnly)) search('filter', narrowed(typedFilter(), errorsOnly))
}

function go(row: number): void {
  view.value = 'messages'
  select(row)
}
