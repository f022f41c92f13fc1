import { useEffect } from 'preact/hooks'
import { levels, type Level } from '../../src/findings/index.js'
import { countOf, formatCount } from '../../src/render/index.js'
import { offsetText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { copyText } from '../shell/clipboard.js'
import { select } from '../store/actions.js'
import {
  findings,
  showsSuppressed,
  shownLevels,
  suppress,
  suppressed,
  watchFindings,
} from '../store/findings.js'
import { headOf } from '../store/exchange.js'
import { laneName } from '../store/lane-name.js'
import {
  expanded,
  filterMatches,
  grouped,
  lane,
  lanes,
  origin,
  range,
  reading,
  table,
  view,
} from '../store/state.js'
import type { ToldFinding } from '../worker/protocol.js'

/** Findings of one rule listed before the user asks for more. */
const mostOfRule = 100

/** Findings of the rules, by level and rule. */
export function FindingsPage() {
  useEffect(watchFindings, [])
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
        byRule(shown).map((group) => <RuleGroup key={group[0]!.rule} group={group} />)
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

/** Most severe rules first. */
function byRule(all: readonly ToldFinding[]): ToldFinding[][] {
  const groups = new Map<string, ToldFinding[]>()
  for (const one of all) {
    const key = `${one.rule} ${one.level}`
    const known = groups.get(key)
    if (known) known.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()].toSorted(
    ([a], [b]) => levels.indexOf(a!.level) - levels.indexOf(b!.level) || a!.rule.localeCompare(b!.rule),
  )
}

function RuleGroup({ group }: { readonly group: readonly ToldFinding[] }) {
  const { rule, title, help, level, certainty, source } = group[0]!
  return (
    <section class={`finding-rule level-${level}`}>
      <h2>
        <span class={`tag level-${level}`}>{level}</span> {title} <code class="quiet">{rule}</code>
      </h2>
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
      <ul class="finding-list">
        {group.slice(0, mostOfRule).map((one, i) => (
          <FindingLine key={i} one={one} />
        ))}
      </ul>
      {group.length > mostOfRule && (
        <p class="quiet">
          {formatCount(group.length - mostOfRule)} more not listed. To see them, filter the messages by{' '}
          <code>finding:{rule}</code>
        </p>
      )}
    </section>
  )
}

function FindingLine({ one }: { readonly one: ToldFinding }) {
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
        {clean(one.message)}
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
  if (grouped.value && head !== row) expanded.value = new Set([...expanded.value, head])
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
