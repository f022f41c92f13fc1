import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { levels, type Level } from '../../src/findings/index.js'
import { countOf, formatCount } from '../../src/render/index.js'
import { offsetText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { More } from '../shell/more.js'
import { copyText } from '../shell/clipboard.js'
import { select } from '../store/actions.js'
import {
  findings,
  findingsBy,
  groupings,
  showsSuppressed,
  shownLevels,
  suppress,
  suppressed,
  watchFindings,
  type Grouping,
} from '../store/findings.js'
import { headOf } from '../store/exchange.js'
import { laneName } from '../store/lane-name.js'
import {
  expanded,
  filterMatches,
  grouped as asExchanges,
  lane,
  lanes,
  origin,
  range,
  reading,
  table,
  view,
} from '../store/state.js'
import type { ToldFinding } from '../worker/protocol.js'

/** Findings of one group listed before the user asks for more, and those added by each request. */
const mostOfGroup = 100
const mostMore = 1_000

/** Findings of the rules, by level and rule. */
export function FindingsPage() {
  useEffect(() => watchFindings(), [])
  const list = findings.value
  const all = (list?.findings ?? []).filter(isInView)
  const kept = all.filter(({ hash }) => showsSuppressed.value || !suppressed.value.has(hash))
  const asideCount = all.filter(({ hash }) => suppressed.value.has(hash)).length
  const shown = kept.filter(({ level }) => shownLevels.value.has(level))
  return (
    <div class="page findings-page" tabIndex={0} role="region" aria-label="Findings">
      <div class="findings-head">
        {levels.map((level) => (
          <LevelChip key={level} level={level} count={kept.filter((one) => one.level === level).length} />
        ))}
        {asideCount > 0 && (
          <button
            type="button"
            class="chip"
            aria-pressed={showsSuppressed.value}
            onClick={() => (showsSuppressed.value = !showsSuppressed.value)}
          >
            {formatCount(asideCount)} suppressed
          </button>
        )}
        {asideCount > 0 && (
          <button
            type="button"
            class="button small"
            title="Copy the suppressed findings as a file for `wiretape check --baseline`"
            onClick={() => copyBaseline(all)}
          >
            Copy as baseline
          </button>
        )}
        <span class="grow" />
        <span class="segments" role="group" aria-label="Group findings">
          <span class="quiet">by</span>
          {groupings.map((one) => (
            <button
              key={one}
              type="button"
              class="chip"
              aria-pressed={findingsBy.value === one}
              onClick={() => (findingsBy.value = one)}
            >
              {one}
            </button>
          ))}
        </span>
      </div>
      {list === undefined ? (
        <p class="empty" role="status">
          {reading.value ? 'Reading the recording…' : 'Checking the recording…'}
        </p>
      ) : shown.length === 0 ? (
        <p class="empty">
          {all.length === 0 && list.findings.length > 0
            ? 'No findings match the filter.'
            : all.length === 0
              ? `No findings. ${countOf(list.rules, 'rule')} checked ${countOf(table.length, 'row')}.`
              : 'No findings at the selected levels.'}
        </p>
      ) : (
        grouped(shown, findingsBy.value).map(([key, group]) => (
          <Group key={key} group={group} by={findingsBy.value} />
        ))
      )}
      {list !== undefined && list.left > 0 && (
        <p class="quiet">{countOf(list.left, 'more finding')} not listed</p>
      )}
    </div>
  )
}

/** The filter, the time range and the lane apply here too. */
function isInView(one: ToldFinding): boolean {
  if (lane.value !== 'all' && one.lane !== lane.value) return false
  const matches = filterMatches.value
  if (!matches && !range.value) return true
  const [from, to] = range.value ?? [-Infinity, Infinity]
  return one.rows.some(
    (row) => (!matches || matches.has(row)) && table.at(row) >= from && table.at(row) <= to,
  )
}

function LevelChip({ level, count }: { readonly level: Level; readonly count: number }) {
  const isOn = shownLevels.value.has(level)
  return (
    <button
      type="button"
      class={`chip level-${level}`}
      aria-pressed={isOn}
      onClick={() => {
        const next = new Set(shownLevels.value)
        if (isOn) next.delete(level)
        else next.add(level)
        shownLevels.value = next
      }}
    >
      {countOf(count, level)}
    </button>
  )
}

/** Most severe groups first; of one level by rule, and of one rule the largest first. */
function grouped(all: readonly ToldFinding[], by: Grouping): [key: string, group: ToldFinding[]][] {
  const groups = new Map<string, ToldFinding[]>()
  for (const one of all) {
    const key = [one.level, ...(by === 'level' ? [] : [one.rule]), ...(by === 'message' ? [one.message] : [])]
    const known = groups.get(key.join(' '))
    if (known) known.push(one)
    else groups.set(key.join(' '), [one])
  }
  return [...groups].toSorted(
    ([, a], [, b]) =>
      levels.indexOf(a[0]!.level) - levels.indexOf(b[0]!.level) ||
      a[0]!.rule.localeCompare(b[0]!.rule) ||
      b.length - a.length,
  )
}

function Group({ group, by }: { readonly group: readonly ToldFinding[]; readonly by: Grouping }) {
  const limit = useSignal(mostOfGroup)
  const { title, level, message, rule } = group[0]!
  const left = group.length - limit.value
  return (
    <section class={`finding-rule level-${level}`}>
      <h2>
        <span class={`tag level-${level}`}>{level}</span>{' '}
        {by === 'rule' ? title : by === 'message' ? clean(message) : ''}{' '}
        {by !== 'level' && <code class="quiet">{rule}</code>}{' '}
        <span class="quiet">{formatCount(group.length)}</span>
      </h2>
      {by === 'rule' && <About one={group[0]!} />}
      <ul class="finding-list">
        {group.slice(0, limit.value).map((one, i) => (
          <FindingLine key={i} one={one} by={by} />
        ))}
      </ul>
      {left > 0 && <More left={left} step={mostMore} show={() => (limit.value += mostMore)} />}
    </section>
  )
}

/** Help, certainty and source of a rule. */
function About({ one: { help, certainty, source } }: { readonly one: ToldFinding }) {
  return (
    <p class="quiet">
      {help} Certainty: {certainty}. Source:{' '}
      {source.url.startsWith('https:') ? (
        <a href={source.url} target="_blank" rel="noreferrer noopener">
          {source.name}
        </a>
      ) : (
        source.name
      )}
      .
    </p>
  )
}

function FindingLine({ one, by }: { readonly one: ToldFinding; readonly by: Grouping }) {
  const [row] = one.rows
  const at = row === undefined ? 0 : table.at(row)
  const isAside = suppressed.value.has(one.hash)
  const of = lanes.value[one.lane]
  return (
    <li class={isAside ? 'is-aside' : ''}>
      {row === undefined ? (
        <span class="finding-time quiet">recording</span>
      ) : (
        <button
          type="button"
          class="bare link-like finding-time"
          title="Show the message"
          onClick={() => show(row)}
        >
          {at === 0 ? `#${table.seq(row)}` : offsetText(at - origin.value)}
        </button>
      )}
      <span class="finding-words">
        {lanes.value.length > 1 && of && <span class="quiet">{clean(laneName(of))} </span>}
        {one.tool !== '' && <b>{clean(one.tool)} </b>}
        {by !== 'message' && clean(one.message)}
        {by === 'level' && <code class="quiet"> {one.rule}</code>}
        {one.at !== '' && <code class="quiet"> {clean(one.at)}</code>}
      </span>
      <span class="finding-deeds">
        <button type="button" class="bare link-like" onClick={() => copyFinding(one)}>
          Copy
        </button>
        <button type="button" class="bare link-like" onClick={() => suppress(one.hash, !isAside)}>
          {isAside ? 'Restore' : 'Suppress'}
        </button>
      </span>
    </li>
  )
}

/** Selects a message in the list and unfolds its exchange. */
function show(row: number): void {
  const head = headOf(row)
  if (asExchanges.value && head !== row) expanded.value = new Set([...expanded.value, head])
  select(row)
  view.value = 'messages'
}

function copyFinding(one: ToldFinding): void {
  const [row] = one.rows
  const place = row === undefined ? '' : `  #${table.seq(row)}`
  void copyText(
    () =>
      `${one.level}  ${one.rule}${place}${one.tool === '' ? '' : `  ${clean(one.tool)}`}\n  ${clean(one.message)}\n`,
    { text: 'Finding copied.', tone: 'plain' },
  )
}

/** Copies the part of a report that `wiretape check --baseline` reads. */
function copyBaseline(all: readonly ToldFinding[]): void {
  const aside = all.filter(({ hash }) => suppressed.value.has(hash))
  const seen = new Map(aside.map(({ hash, rule, message }) => [hash, { rule, message, fingerprint: hash }]))
  void copyText(
    () => `${JSON.stringify({ version: 1, recordings: [{ findings: [...seen.values()] }] }, undefined, 2)}\n`,
    {
      text: 'Baseline copied. Save it to a file and run: wiretape check --baseline FILE',
      tone: 'plain',
    },
  )
}
