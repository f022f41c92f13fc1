import { isFrameRecord, isLoneRecord, loneFacts, type TapeRecord } from '../model/index.js'
import {
  escapeText,
  factWords,
  formatBytes,
  formatDuration,
  pad,
  phaseWords,
  waitedWords,
} from '../render/index.js'
import { levelTones } from './found-list.js'
import { indentedLines, jsonLines } from './json-view.js'
import { diffLines } from './line-diff.js'
import type { LogRow, MessageLog, RowState } from './message-log.js'
import { whatOf } from './row-line.js'
import { lineWidth, span, truncateLine, wrapLine, type Line } from './spans.js'
import type { Again } from './again.js'

/** Minimum width for two texts side by side. */
const wide = 110

/** Findings shown for one message; the list of findings has all. */
const mostFindings = 10

type Frame = Extract<TapeRecord, { type: 'message' | 'held' }>

/** Everything about a row: its kind, its text, its original text, and the other half of its exchange. */
export function detailLines(log: MessageLog, row: LogRow, width: number): Line[] {
  const mine = messageLines(log, row)
  const peer = row.peer >= 0 ? log.row(row.peer) : undefined
  if (!peer) return mine.flatMap((line) => wrapLine(line, width))
  const theirs = messageLines(log, peer)
  const isRequest = row.kind === 'request'
  const [first, second] = isRequest ? [mine, theirs] : [theirs, mine]
  if (width >= wide) return sideBySide(first, second, width)
  const [upper, lower] = [mine, theirs]
  return [...upper, [], ...lower].flatMap((line) => wrapLine(line, width))
}

/** The earlier and the new response. */
export function againLines(again: Again, width: number): Line[] {
  const lines: Line[] = [[span('sent again', 'bold')]]
  if (again.fault !== undefined) lines.push([span(escapeText(again.fault), 'red')])
  else if (again.answer === undefined) lines.push([span('waiting for the response…', 'yellow')])
  else {
    const took = again.latencyMs === undefined ? '' : ` after ${formatDuration(again.latencyMs * 1000)}`
    const same = again.before !== undefined && sameText(again.before, again.answer)
    lines.push([
      span(`response${took}: `, 'plain'),
      same ? span('same response as before', 'green') : span('old and new response', 'yellow'),
    ])
    lines.push(
      ...(again.before === undefined ? jsonLines(again.answer) : textDiff(again.before, again.answer)),
    )
  }
  lines.push([], [span('sent request', 'bold')], ...jsonLines(again.sent))
  return lines.flatMap((line) => wrapLine(line, width))
}

function sameText(before: string, after: string): boolean {
  const [old, fresh] = [indentedLines(before), indentedLines(after)].map((lines) =>
    lines.filter((line) => !/^ {2}"id":/.test(line)).join('\n'),
  )
  return old === fresh
}

/** Removed and added lines with their context. */
function textDiff(before: string, after: string): Line[] {
  return diffLines(indentedLines(before), indentedLines(after)).map(({ kind, text }) => {
    if (kind === 'same') return [span(`  ${text}`, 'dim')]
    return kind === 'removed' ? [span(`- ${text}`, 'red')] : [span(`+ ${text}`, 'green')]
  })
}

function messageLines(log: MessageLog, row: LogRow): Line[] {
  const { record } = row
  const lines: Line[] = [titleOf(row)]
  for (const note of row.notes) lines.push([span(`note: ${escapeText(note)}`, 'cyan')])
  for (const { level, rule, message } of row.findings.slice(0, mostFindings))
    lines.push([span(`! ${rule.id}: ${escapeText(message)}`, levelTones[level])])
  const held = log.heldOf(row.row)
  if (held) {
    const by = held.by === undefined ? '' : ` by ${escapeText(held.by)}`
    const words = {
      hold: 'held',
      breakpoint: 'held by a breakpoint',
      rule: 'held by a rule',
      order: 'waiting behind another message',
    }
    lines.push([span(`${words[held.reason]}${held.reason === 'order' ? '' : by}`, 'yellow')])
    if (held.moot !== undefined) lines.push([span(escapeText(held.moot), 'red')])
  }
  if (!isFrameRecord(record)) return [...lines, ...otherLines(row)]
  if (record.rule !== undefined) lines.push([span(escapeText(`rule ${record.rule}`), 'dim')])
  if (record.type === 'message' && record.heldMs !== undefined)
    lines.push([span(`held for ${formatDuration(record.heldMs * 1000)}`, 'dim')])
  return [...lines, ...textLines(log, row, record), ...carrierLines(record)]
}

function textLines(log: MessageLog, row: LogRow, record: Frame): Line[] {
  const text = log.textOf(row.row)
  if (text === undefined) {
    return [[span('the payload is no longer in memory; wiretape inspect -v shows it', 'dim')]]
  }
  const original = record.type === 'message' && record.modified ? record.original : undefined
  if (original !== undefined && !record.batch) {
    return [[span('changed before it was forwarded', 'magenta')], ...textDiff(original, text)]
  }
  return jsonLines(text)
}

function titleOf(row: LogRow): Line {
  const number = row.seq < 0 ? '' : `#${row.seq} `
  const { text, tone } = whatOf(row)
  const facts: string[] = []
  if (row.latencyUs !== undefined && row.kind !== 'request') {
    facts.push(formatDuration(row.latencyUs))
    if (row.waitedUs > 0) facts.push(waitedWords(row.waitedUs))
  }
  if (row.sizeBytes > 0) facts.push(formatBytes(row.sizeBytes))
  if (row.unanswered) facts.push(factWords.unanswered.text)
  if (row.state !== 'passed') facts.push(stateWords[row.state])
  return [
    span(number, 'bold'),
    span(text, tone === 'dim' ? 'bold' : tone),
    span(facts.length === 0 ? '' : `  ${facts.join(', ')}`, 'dim'),
  ]
}

const stateWords: Readonly<Record<Exclude<RowState, 'passed'>, string>> = {
  waiting: factWords['held-now'].text,
  dropped: factWords.dropped.text,
  modified: factWords.modified.text,
  injected: factWords.injected.text,
  undelivered: factWords.undelivered.text,
}

/** The HTTP exchange of the message. Below the message, which most readers want first. */
function carrierLines(record: Frame): Line[] {
  const lines: Line[] = []
  const say = (text: string): void => void lines.push([span(escapeText(text), 'dim')])
  if (record.conversation !== undefined) say(`conversation ${record.conversation}`)
  if (record.sse)
    say(`event ${record.sse.event ?? 'message'}${record.sse.id === undefined ? '' : ` ${record.sse.id}`}`)
  if (record.http) {
    const { exchange, method, path, status, headers, phases } = record.http
    say(
      `HTTP exchange ${exchange}${method === undefined ? '' : `, ${method} ${path ?? ''}`}${status === undefined ? '' : `, ${status}`}`,
    )
    if (phases) say(`  ${phaseWords(phases)}`)
    for (const [name, value] of headers ?? []) say(`  ${name}: ${value}`)
  }
  return lines.length === 0 ? [] : [[], ...lines]
}

function otherLines({ record }: LogRow): Line[] {
  const plain = (text: string): Line[] =>
    text
      .slice(0, 200_000)
      .split('\n')
      .map((line) => [span(escapeText(line))])
  switch (record.type) {
    case 'gap':
      return plain(record.why)
    case 'http':
      return [
        ...(record.why === undefined ? [] : [[span(escapeText(record.why), 'red' as const)]]),
        ...(record.phases ? [[span(phaseWords(record.phases), 'dim' as const)]] : []),
        ...(record.requestHeaders ?? []).map(([name, value]): Line => [
          span(escapeText(`> ${name}: ${value}`), 'dim'),
        ]),
        ...(record.headers ?? []).map(([name, value]): Line => [
          span(escapeText(`< ${name}: ${value}`), 'dim'),
        ]),
        ...(record.body === undefined ? [] : plain(record.body)),
      ]
    default:
      return isLoneRecord(record) ? plain(loneFacts(record).text ?? '') : []
  }
}

function sideBySide(left: readonly Line[], right: readonly Line[], width: number): Line[] {
  const half = Math.floor((width - 3) / 2)
  const lefts = left.flatMap((line) => wrapLine(line, half))
  const rights = right.flatMap((line) => wrapLine(line, half))
  const lines: Line[] = []
  for (let i = 0; i < Math.max(lefts.length, rights.length); i += 1) {
    const line = truncateLine(lefts[i] ?? [], half)
    lines.push([...line, span(pad('', half - lineWidth(line))), span(' │ ', 'dim'), ...(rights[i] ?? [])])
  }
  return lines
}
