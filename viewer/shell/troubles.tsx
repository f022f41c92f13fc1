import { countOf } from '../../src/render/index.js'
import { errorsOnly, narrowed, placeIn, typedFilter } from '../filter/filter-bar.js'
import { search, select } from '../store/actions.js'
import { troublesOf, unansweredIn } from '../store/trouble-count.js'
import { dialog, lane, lanes, reading, version, view } from '../store/state.js'
import { Icon } from './icons.js'

/** Problems, at the top of the page: errors, calls after an error, gaps, recordings without an end. */
export function Troubles() {
  version.value
  if (reading.value) return null
  const { errors, http, unmatched, invalid, again, firstAgain, lost, firstLost } = troublesOf(lane.value)
  const unanswered = unansweredIn(lane.value)
  const shown = lanes.value.filter((one) => one && (lane.value === 'all' || one.index === lane.value))
  const cut = shown.filter((one) => {
    const session = one.sessions.at(-1)
    if (one.state !== 'done' || one.format !== 'trace-v1' || !session) return false
    return session.recovered === true || (!session.complete && !session.continues)
  })
  const items: readonly (readonly [text: string, title: string, run: () => void])[] = [
    ...counted(errors, 'error', 'errors', 'JSON-RPC errors and tool errors', errorsOnly),
    ...counted(http, 'HTTP error', 'HTTP errors', 'Failed HTTP exchanges', 'is:http -status:<400'),
    ...counted(
      unanswered,
      'unanswered request',
      'unanswered requests',
      'Requests without a response',
      'is:unanswered',
    ),
    ...counted(
      unmatched,
      'unmatched message',
      'unmatched messages',
      'Late, unmatched and undelivered responses, and duplicate ids',
      '(is:late or is:orphan or is:duplicate or is:undelivered)',
    ),
    ...counted(
      invalid,
      'invalid message',
      'invalid messages',
      'Messages that are not JSON-RPC',
      '(is:invalid or is:noise)',
    ),
    ...(again > 0
      ? [
          [
            countOf(again, 'call after an error of its tool', 'calls after an error of their tool'),
            'Show the first call of a tool whose previous call failed',
            () => go(firstAgain),
          ] as const,
        ]
      : []),
    ...(lost > 0
      ? [[`${countOf(lost, 'gap')} in the recording`, 'Show the first gap', () => go(firstLost)] as const]
      : []),
    ...(cut.length > 0
      ? [
          [
            cut.length === 1 && shown.length === 1
              ? cut[0]!.sessions.at(-1)?.recovered
                ? 'recovered, end unknown'
                : 'truncated: the recording has no end'
              : `${countOf(cut.length, 'recording')} without an end`,
            'Show recording details',
            () => (dialog.value = 'session'),
          ] as const,
        ]
      : []),
  ]
  if (items.length === 0) return null
  return (
    <div class="troubles" role="group" aria-label="Problems">
      <Icon name="warn" />
      {items.map(([text, title, run]) => (
        <button key={title} type="button" class="bare" title={title} onClick={run}>
          {text}
        </button>
      ))}
    </div>
  )
}

/** A count with the filter that shows its rows; nothing for 0. */
function counted(
  count: number,
  one: string,
  many: string,
  what: string,
  filter: string,
): readonly (readonly [text: string, title: string, run: () => void])[] {
  return count === 0 ? [] : [[countOf(count, one, many), `${what}: show only these`, () => showOnly(filter)]]
}

function showOnly(filter: string): void {
  view.value = 'messages'
  if (placeIn(typedFilter(), filter) < 0) search('filter', narrowed(typedFilter(), filter))
}

function go(row: number): void {
  view.value = 'messages'
  select(row)
}
