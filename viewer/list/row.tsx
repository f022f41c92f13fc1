import { factsOf, isAnsweredHere, type Fact } from '../../src/model/index.js'
import {
  countOf,
  factWords,
  formatBytes,
  formatDuration,
  ownAnswerWords,
  waitedWords,
  rowView,
  toldFacts,
} from '../../src/render/index.js'
import {
  hasMembers,
  isNoted,
  latencyOf,
  waitedOf,
  oursOf,
  requestOf,
  statusOf,
  type Status,
} from '../store/exchange.js'
import { isHidden } from '../store/columns.js'
import { contentOf } from '../store/contents.js'
import { findingOf } from '../store/findings.js'
import { lanes, table } from '../store/state.js'
import { clean } from '../shell/clean.js'
import { FindingTag } from '../shell/finding-tag.js'
import { Arrow, Chevron } from '../shell/icons.js'

/** The name of a row, split into the two places of the list. */
export function nameOf(row: number): { readonly name: string; readonly subject: string } {
  const of = table.kind(row)
  const request = of === 'result' || of === 'error' ? requestOf(row) : -1
  const asked = request < 0 ? undefined : { method: table.method(request), subject: table.subject(request) }
  const matter = {
    kind: of,
    method: table.method(row),
    subject: table.subject(row),
    said: table.note(row),
    why: '',
  }
  const { kind, name, subject, said } = rowView(matter, asked)
  if (of === 'result' || of === 'error')
    return asked ? { name: `${kind} of ${name}`, subject } : { name: kind, subject: factWords.orphan.text }
  const isNamed = of === 'request' || of === 'notification' || of === 'http'
  return isNamed ? { name, subject } : { name: kind, subject: said }
}

const words: Readonly<Record<Status, string>> = {
  ok: 'ok',
  error: 'error',
  'tool-error': factWords['tool-error'].text,
  waiting: factWords.unanswered.text,
  cancelled: factWords.cancelled.text,
  held: factWords['held-now'].text,
  dropped: factWords.dropped.text,
  own: ownAnswerWords.message,
  bad: '',
  none: '',
}

/** The status in a word, and its tooltip. */
export function statusText(row: number): { readonly text: string; readonly title: string } {
  const status = statusOf(row)
  const answer = table.kind(row) === 'request' ? table.peer(row) : row
  const note = answer < 0 ? '' : table.note(answer)
  if (status === 'error') {
    const code = /^-?\d{1,6}/.exec(note)?.[0]
    return { text: code ?? 'error', title: note }
  }
  if (table.kind(row) === 'http') return { text: /^\d{3}|^no response/.exec(note)?.[0] ?? '', title: note }
  const flags = flagsOf(row)
  const task = answer < 0 ? '' : taskText(answer, status)
  if (task !== '') return { text: task, title: flags.join(', ') }
  if (status === 'own') {
    const isRequest = table.kind(row) === 'request'
    const why = isRequest ? `response ${ownAnswerWords.why}` : ownAnswerWords.why
    return { text: ownAnswerWords[isRequest ? 'request' : 'message'], title: [why, ...flags].join(', ') }
  }
  const isItsAnswer =
    table.kind(row) === 'request' && !table.has(row, status === 'held' ? 'waiting' : 'dropped')
  const isStopped = status === 'held' || status === 'dropped'
  // While it is recorded, the answer may still come.
  const isOpen = status === 'waiting' && lanes.value[table.lane(row)]?.state === 'following'
  const word = isOpen ? 'waiting' : isStopped && isItsAnswer ? `response ${words[status]}` : words[status]
  const text = word === '' ? (flags[0] ?? '') : word
  return { text, title: [note, ...flags].filter((part) => part !== '').join(', ') }
}

/** The outcome of the task that a response created; '' for none and for a completed one. */
function taskText(answer: number, status: Status): string {
  // While it is recorded, the task may still end.
  const isLive = lanes.value[table.lane(answer)]?.state === 'following'
  if (status === 'waiting' && table.has(answer, 'taskOpen'))
    return isLive ? 'task running' : factWords['task-open'].text
  return status === 'tool-error' && table.has(answer, 'taskFailed') ? factWords['task-failed'].text : ''
}

/** Shown by the status, or by a word beside the name. */
const toldElsewhere: ReadonlySet<Fact> = new Set<Fact>([
  'unanswered',
  'tool-error',
  'task-open',
  'task-failed',
  'task-cancelled',
  'cancelled',
  'waiting',
  'held-now',
  'dropped',
  'own',
  'modified',
])

function flagsOf(row: number): string[] {
  const facts = toldFacts(factsOf(table, row)).filter((fact) => !toldElsewhere.has(fact))
  const flags = facts.map((fact) => factWords[fact].text)
  if (table.has(row, 'stream') && table.peer(row) < 0) flags.push('open')
  return flags
}

export interface RowProps {
  readonly index: number
  readonly row: number
  readonly nested: boolean
  readonly open: boolean
  readonly selected: boolean
  readonly highlighted: boolean
  readonly dimmed: boolean
  readonly grouped: boolean
  readonly origin: number
  /** Range of the waterfall: microseconds since 1970. */
  readonly span: readonly [from: number, to: number]
  readonly style: { transform: string }
  readonly onSelect: (row: number) => void
  readonly onToggle: (row: number) => void
  /** With it, the row has a button for its menu. */
  readonly onMenu?: (row: number, button: HTMLElement) => void
}

export function Row(props: RowProps) {
  const { row, nested } = props
  const { name, subject } = nameOf(row)
  const kind = table.kind(row)
  const { text: status, title } = statusText(row)
  const foldable = props.grouped && !nested && hasMembers(row)
  const answer = foldable && kind === 'request' ? table.peer(row) : -1
  const latency = kind === 'request' || nested || !props.grouped ? latencyOf(row) : undefined
  const size = table.size(row) + (answer >= 0 ? table.size(answer) : 0)
  const modified = table.has(row, 'modified') || (answer >= 0 && table.has(answer, 'modified'))
  const ours = oursOf(row, contentOf(isAnsweredHere(table, row) ? table.peer(row) : row).author)
  const changed = answer >= 0 && table.has(answer, 'modified') ? answer : row
  const content = contentText(row, answer)
  // A line has no method; if the content column is hidden, the message column shows its text.
  const line = isLine(row) && !isHidden('content') ? subject : ''
  const finding = findingOf(row) ?? (answer < 0 ? undefined : findingOf(answer))
  const classes = [
    ...classesOf(props),
    modified ? 'modified' : '',
    ours === undefined ? '' : 'ours',
    content === '' && line === '' ? 'wordless' : '',
  ]
  return (
    <div
      id={`row-${row}`}
      class={classes.join(' ')}
      style={props.style}
      role="row"
      aria-rowindex={props.index + 1}
      aria-selected={props.selected}
      onClick={() => props.onSelect(row)}
      onDblClick={() => foldable && props.onToggle(row)}
    >
      <span class="cell lane" role="gridcell" title={clean(lanes.value[table.lane(row)]?.name ?? '')}>
        <i class={`swatch lane-${table.lane(row) % 8}`} />
      </span>
      <span class="cell time" role="gridcell">
        {timeText(row, props.origin)}
      </span>
      <span class="cell fold" role="gridcell">
        {foldable && <FoldButton row={row} open={props.open} onToggle={props.onToggle} />}
      </span>
      <span class="cell dir" role="gridcell">
        {kind !== 'gap' && kind !== 'note' && kind !== 'http' && (
          <Arrow left={table.has(row, 'fromServer')} />
        )}
      </span>
      <span class="cell name" role="gridcell">
        <b>{clean(name)}</b> {subject !== '' && line === '' && <span class="subject">{clean(subject)}</span>}
        {modified && <em class="tag modified">{`edited ${byWords(contentOf(changed).author)}`.trimEnd()}</em>}
        {finding && <FindingTag finding={finding} />}
        {!nested && isNoted(row) && <em class="tag noted">note</em>}
        {ours !== undefined && <em class="tag modified">{ours}</em>}
      </span>
      <span class="cell content" role="gridcell">
        {line === '' ? content : <span class="subject">{clean(line)}</span>}
      </span>
      <span class="cell id" role="gridcell">
        {clean(table.id(row))}
      </span>
      <span class="cell status" role="gridcell" title={clean(title)}>
        {clean(status)}
      </span>
      <span
        class="cell latency"
        role="gridcell"
        title={latency !== undefined && waitedOf(row) > 0 ? waitedWords(waitedOf(row)) : undefined}
      >
        {latency === undefined ? '' : formatDuration(latency)}
      </span>
      <span class="cell size" role="gridcell" title={countOf(size, 'byte')}>
        {size === 0 && kind === 'http' ? '' : formatBytes(size)}
      </span>
      <span class="cell waterfall" role="gridcell">
        {table.at(row) > 0 && <i style={barOf(row, latency, props.span)} />}
      </span>
      {props.onMenu && <MenuButton row={row} name={name} onMenu={props.onMenu} />}
    </div>
  )
}

function classesOf({ row, nested, selected, highlighted, dimmed }: RowProps): string[] {
  const kind = table.kind(row)
  return [
    'row',
    `kind-${kind}`,
    `is-${statusOf(row)}`,
    nested ? 'nested' : '',
    selected ? 'selected' : '',
    highlighted ? 'highlighted' : '',
    dimmed ? 'dimmed' : '',
    kind === 'note' ? '' : table.has(row, 'fromServer') ? 'from-server' : 'from-client',
  ]
}

function FoldButton({ row, open, onToggle }: Pick<RowProps, 'row' | 'open' | 'onToggle'>) {
  return (
    <button
      type="button"
      class="bare"
      tabIndex={-1}
      aria-label={open ? 'Collapse the exchange' : 'Expand the exchange'}
      aria-expanded={open}
      onClick={(event) => {
        event.stopPropagation()
        onToggle(row)
      }}
    >
      <Chevron open={open} />
    </button>
  )
}

/** Opens the menu of a row by touch. */
function MenuButton(props: {
  readonly row: number
  readonly name: string
  readonly onMenu: NonNullable<RowProps['onMenu']>
}) {
  return (
    <span class="cell more" role="gridcell">
      <button
        type="button"
        class="bare"
        aria-label={`Actions for ${clean(props.name)}`}
        aria-haspopup="menu"
        onClick={(event) => {
          event.stopPropagation()
          props.onMenu(props.row, event.currentTarget)
        }}
      >
        ⋮
      </button>
    </span>
  )
}

/** For an exchange, the contents of request and response. @param answer -1 if separate or missing */
function contentText(row: number, answer: number): string {
  const asked = contentOf(row).text
  const said = answer < 0 ? failureText(row) : failureText(answer) || contentOf(answer).text
  return said === '' ? asked : `${asked} → ${said}`.trimStart()
}

/** Code and message of an error; the reason for an HTTP exchange that ended early. */
function failureText(row: number): string {
  const kind = table.kind(row)
  if (kind === 'error') return clean(table.note(row))
  return kind === 'http' ? clean(table.note(row).replace(/^(?:\d{3}|no response)(?:, )?/, '')) : ''
}

const byWords = (author: string): string => author && `by ${author}`

/** Text of a peer or about the recording, without a method. */
function isLine(row: number): boolean {
  const kind = table.kind(row)
  return kind === 'stderr' || kind === 'noise' || kind === 'note' || kind === 'gap' || kind === 'invalid'
}

/** Position and length of the row's bar within the shown time. */
function barOf(
  row: number,
  latency: number | undefined,
  [from, to]: RowProps['span'],
): { readonly left: string; readonly width: string } {
  const start = kindIsAnswer(row) && latency !== undefined ? table.at(row) - latency : table.at(row)
  const share = (us: number): number => Math.min(100, Math.max(0, (100 * us) / Math.max(1, to - from)))
  return { left: `${share(start - from)}%`, width: `${share(latency ?? 0)}%` }
}

function kindIsAnswer(row: number): boolean {
  const kind = table.kind(row)
  return kind === 'result' || kind === 'error'
}

/** Time since the first start; a dash if the recording has none. */
export function timeText(row: number, origin: number): string {
  return table.at(row) === 0 ? '–' : offsetText(table.at(row) - origin)
}

/** `12.345`, `2:03.456`, `1:02:03.456`, `3d 01:02:03.456` since the first start. */
export function offsetText(us: number): string {
  const ms = Math.round(Math.abs(us) / 1000)
  const sign = us < 0 && ms > 0 ? '-' : ''
  const seconds = (ms / 1000) % 60
  const minutes = Math.floor(ms / 60_000) % 60
  const hours = Math.floor(ms / 3_600_000) % 24
  const days = Math.floor(ms / 86_400_000)
  const two = (n: number): string => String(n).padStart(2, '0')
  const rest = `${two(minutes)}:${seconds.toFixed(3).padStart(6, '0')}`
  if (days > 0) return `${sign}${days}d ${two(hours)}:${rest}`
  if (hours > 0) return `${sign}${hours}:${rest}`
  if (minutes > 0) return `${sign}${minutes}:${seconds.toFixed(3).padStart(6, '0')}`
  return `${sign}${seconds.toFixed(3)}`
}

/** Width needed by the longest time in the list. */
export function timeWidth(longestUs: number): string | undefined {
  if (longestUs >= 86_400e6) return '142px'
  return longestUs >= 3_600e6 ? '92px' : undefined
}
