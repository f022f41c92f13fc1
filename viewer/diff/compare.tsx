import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import {
  describeOffer,
  titleOf,
  toJsonPath,
  verdicts,
  type ExchangeComparison,
  type Verdict,
} from '../../src/compare/index.js'
import { countOf, formatCount, formatDuration } from '../../src/render/index.js'
import { DifferenceTable } from '../reading/original.js'
import { JsonTree } from '../json/tree.js'
import { clean } from '../shell/clean.js'
import { Failures } from '../shell/failures.js'
import { Chevron } from '../shell/icons.js'
import { mode } from '../shell/mode.js'
import { ReaderFailure } from '../store/reader.js'
import { Latencies } from './latencies.js'
import { Versions } from './versions.js'
import { chooseFiles, clearFilters, reader } from '../store/actions.js'
import { comparedOnly, filterMatches, lanes, range, reading } from '../store/state.js'
import type { Comparison } from '../worker/compare.js'
import type { Lane } from '../worker/protocol.js'

type State =
  | { readonly at: 'working'; readonly compared: number }
  | { readonly at: 'failed'; readonly message: string }
  | { readonly at: 'done'; readonly comparison: Comparison }

/** Shows where the second recording's responses differ. */
export function ComparePage() {
  const readable = lanes.value.filter(({ state }) => state !== 'failed')
  return (
    <div class="page compare-page" tabIndex={0} role="region" aria-label="Compare">
      <Failures />
      {readable.length > 1 ? (
        <Comparing readable={readable} />
      ) : (
        <div class="empty">
          <p>A comparison needs two recordings. {readable.length === 1 ? 'Only one is' : 'None is'} open.</p>
          {mode !== 'report' && (
            <button type="button" class="button" onClick={chooseFiles}>
              Open another file…
            </button>
          )}
        </div>
      )}
    </div>
  )
}

/** Compares two recordings, and again when the filter or the range changes. */
function useComparison(before: number | undefined, after: number | undefined): State {
  const state = useSignal<State>({ at: 'working', compared: 0 })
  const between = range.value
  // A live recording is searched again and again: that compares nothing anew.
  const filter = useRef('')
  if (filterMatches.value?.done !== false) filter.current = filterMatches.value?.text ?? ''
  useEffect(() => {
    state.value = { at: 'working', compared: 0 }
  }, [before, after])
  useEffect(() => {
    if (reading.value || before === undefined || after === undefined) return undefined
    let gone = false
    reader()
      .call<Comparison | undefined>('compare', [before, after, between], (compared) => {
        if (!gone) state.value = { at: 'working', compared: compared as number }
      })
      .then(
        (comparison) => {
          if (!gone && comparison) state.value = { at: 'done', comparison }
        },
        (error: unknown) => {
          const hint = error instanceof ReaderFailure && error.hint !== undefined ? ` ${error.hint}` : ''
          if (!gone)
            state.value = {
              at: 'failed',
              message: (error instanceof Error ? error.message : String(error)) + hint,
            }
        },
      )
    return () => {
      gone = true
    }
  }, [before, after, reading.value, filter.current, between])
  return state.value
}

function Comparing({ readable }: { readonly readable: readonly Lane[] }) {
  const chosen = useSignal<{ readonly before?: number; readonly after?: number }>({})
  const before = chosen.value.before ?? readable[0]?.index
  const after = chosen.value.after ?? readable[1]?.index
  const state = useComparison(before, after)
  const names = readable.map((one) => ({
    index: one.index,
    name: `${one.sessions[0]?.label || 'recording'} · ${one.name}`,
  }))
  const choose = (which: 'before' | 'after', value: number | undefined) => (
    <label>
      {which}
      <select
        value={value}
        onChange={({ currentTarget }) =>
          (chosen.value = { ...chosen.value, [which]: Number(currentTarget.value) })
        }
      >
        {names.map(({ index, name }) => (
          <option key={index} value={index}>
            {clean(name)}
          </option>
        ))}
      </select>
    </label>
  )
  return (
    <>
      <header class="compare-head">
        {choose('before', before)}
        <button
          type="button"
          class="button small"
          onClick={() => {
            if (before !== undefined && after !== undefined) chosen.value = { before: after, after: before }
          }}
        >
          Swap
        </button>
        {choose('after', after)}
      </header>
      {state.at === 'working' && (
        <p class="empty">Comparing… {state.compared > 0 && countOf(state.compared, 'exchange')}</p>
      )}
      {state.at === 'failed' && <p class="failure">{state.message}</p>}
      {state.at === 'done' && <Found comparison={state.comparison} />}
    </>
  )
}

function Found({ comparison }: { readonly comparison: Comparison }) {
  const only = comparedOnly
  const { leftOut, summary, versions } = comparison
  const { counts, latency, notes = [] } = summary
  const total = verdicts.reduce((sum, verdict) => sum + counts[verdict], 0)
  const shown = comparison.exchanges.filter(
    ({ verdict }) =>
      only.value === 'all' || (only.value === 'differences' ? verdict !== 'same' : verdict === only.value),
  )
  const listed = folded(shown)
  const wanted =
    only.value === 'all'
      ? total
      : only.value === 'differences'
        ? total - counts.same
        : counts[only.value as Verdict]
  const pick = (value: Verdict | 'differences' | 'all', text: string, count: number) => (
    <button
      key={value}
      type="button"
      class="chip"
      aria-pressed={only.value === value}
      onClick={() => (only.value = value)}
    >
      {text} <span class="count">{formatCount(count)}</span>
    </button>
  )
  return (
    <>
      <div class="verdicts" role="group" aria-label="Verdicts">
        {pick('differences', 'differences', total - counts.same)}
        {verdicts
          .filter((verdict) => counts[verdict] > 0)
          .map((verdict) => pick(verdict, verdict, counts[verdict]))}
        {pick('all', 'all', total)}
      </div>
      {leftOut > 0 && (
        <p class="quiet left-out">
          The filter leaves out {countOf(leftOut, 'exchange')}.{' '}
          {versions.length > 0 && 'Changed definitions are always shown. '}
          <button type="button" class="button small" onClick={clearFilters}>
            Clear the filter
          </button>
        </p>
      )}
      {notes.map((note) => (
        <p key={note} class="quiet">
          Note: {clean(note)}
        </p>
      ))}
      {total === counts.same && only.value === 'differences' && (
        <p class="empty">{nothingDiffers(total, leftOut)}</p>
      )}
      {versions.length > 0 && (
        <section>
          <h2>Changed definitions</h2>
          <ul class="offer-changes">
            {versions.map((one, i) => (
              <li key={i} class={`impact-${one.change.impact}`}>
                <span class="tag">{one.change.impact}</span> {clean(describeOffer(one.change))}
                <Versions versions={one} isOpen={versions.length <= mostOpen} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <ul class="comparisons">
        {listed.slice(0, mostShown).map(({ exchange, others }, i) => (
          <ComparedExchange key={i} exchange={exchange} others={others} />
        ))}
      </ul>
      {(listed.length > mostShown || shown.length < wanted) && (
        <p class="quiet">Not all are shown. Run `wiretape diff` to list all.</p>
      )}
      <Latencies latency={latency} />
    </>
  )
}

/** Maximum number of entries. */
const mostShown = 500
/** Up to this number of changed definitions are shown with their texts. */
const mostOpen = 5

function nothingDiffers(compared: number, leftOut: number): string {
  if (compared === 0)
    return leftOut > 0 ? 'No exchanges match the filter.' : 'Neither recording has requests.'
  return leftOut > 0
    ? 'The matching exchanges have the same responses.'
    : 'Both recordings have the same responses.'
}

interface Folded {
  readonly exchange: ExchangeComparison
  /** Further calls with exactly the same differences. */
  readonly others: readonly ExchangeComparison[]
}

/** Equal differences are listed once. */
function folded(exchanges: readonly ExchangeComparison[]): Folded[] {
  const found = new Map<string, { exchange: ExchangeComparison; others: ExchangeComparison[] }>()
  for (const exchange of exchanges) {
    const { verdict, differences, before, after, schemaFaults } = exchange
    const what = differences.map((one) => [toJsonPath(one.place), one.before, one.after])
    const key = JSON.stringify([
      verdict,
      titleOf(exchange),
      what,
      before?.failure,
      after?.failure,
      schemaFaults,
    ])
    const known = found.get(key)
    if (known) known.others.push(exchange)
    else found.set(key, { exchange, others: [] })
  }
  return [...found.values()]
}

function ComparedExchange({ exchange, others }: Folded) {
  const open = useSignal(false)
  const { verdict, before, after, differences, more, schemaFaults, params } = exchange
  const why = verdict === 'error now' ? after?.failure : verdict === 'fixed now' ? before?.failure : undefined
  const isOpen = open.value
  return (
    <li class={`comparison is-${verdict.replaceAll(' ', '-')}`}>
      <button
        type="button"
        class="bare comparison-head"
        aria-expanded={isOpen}
        onClick={() => (open.value = !isOpen)}
      >
        <Chevron open={isOpen} />
        <span class="verdict">{verdict}</span>
        <b>{clean(titleOf(exchange))}</b>
        <span class="quiet">
          {before ? `#${before.seq}` : '—'} → {after ? `#${after.seq}` : '—'}
          {others.length > 0 && ` and ${formatCount(others.length)} identical`}
        </span>
        <span class="why">
          {why === undefined
            ? differences.length > 0
              ? countOf(differences.length + more, 'difference')
              : ''
            : clean(why)}
        </span>
        <span class="number">
          {before?.latencyUs === undefined ? '' : formatDuration(before.latencyUs)}
          {after?.latencyUs === undefined ? '' : ` → ${formatDuration(after.latencyUs)}`}
        </span>
      </button>
      {isOpen && (
        <div class="comparison-body">
          {params !== undefined && (
            <>
              <h4>Arguments</h4>
              <JsonTree text={params} label="Parameters" />
            </>
          )}
          {differences.length > 0 && (
            <DifferenceTable differences={differences} more={more} names={['before', 'after']} />
          )}
          {schemaFaults.map((fault, i) => (
            <p key={i} class="failure">
              {clean(fault)}
            </p>
          ))}
          {others.length > 0 && (
            <p class="quiet">
              Identical:{' '}
              {others
                .slice(0, 50)
                .map(
                  (one) =>
                    `${one.before ? `#${one.before.seq}` : '—'} → ${one.after ? `#${one.after.seq}` : '—'}`,
                )
                .join(', ')}
              {others.length > 50 && ` and ${others.length - 50} more`}
            </p>
          )}
          {params === undefined && differences.length === 0 && <p class="quiet">No differences.</p>}
        </div>
      )}
    </li>
  )
}
