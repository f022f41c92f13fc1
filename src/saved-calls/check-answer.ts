import {
  compareAnswers,
  diffJson,
  failureOf,
  isFailure,
  matchesAlone,
  placesIn,
  type Difference,
  type Verdict,
} from '../compare/index.js'
import { jsonIn } from '../wire/index.js'
import type { Expectation, ExpectedPlace } from './saved-call.js'

/** Result of checking a response, in the terms of `diff`. */
export interface CheckedAnswer {
  readonly verdict: Extract<Verdict, 'same' | 'changed' | 'error now' | 'fixed now'>
  readonly differences: readonly Difference[]
  /** Number of differences not listed. */
  readonly more: number
  /** Reason on one line if the response is an error. */
  readonly failure?: string
  readonly notes?: readonly string[]
}

const mostDifferences = 100

/** @param answer exact text of the response */
export function checkAnswer(answer: string, expect: Expectation): CheckedAnswer {
  const failure = failureOf(answer)
  const failed = { differences: [], more: 0, ...(failure !== undefined && { failure }) }
  const isError = isFailure(answer)
  const mayFail = expect.fails || expect.answer !== undefined
  if (isError && !mayFail) return { verdict: 'error now', ...failed }
  if (!isError && expect.fails)
    return { verdict: 'fixed now', ...failed, notes: ['expected an error but got a result'] }
  const whole = expect.answer === undefined ? undefined : compareWhole(expect.answer, answer, expect)
  if (whole?.verdict === 'error now') return { ...whole, ...failed }
  if (whole?.verdict === 'fixed now') return { ...failed, ...whole }
  const differences = expect.places.flatMap((place) => differencesAt(answer, place))
  const all = [...(whole?.differences ?? []), ...differences]
  const listed = all.slice(0, mostDifferences)
  const more = (whole?.more ?? 0) + all.length - listed.length
  return { verdict: all.length > 0 ? 'changed' : 'same', ...failed, differences: listed, more }
}

function compareWhole(
  expected: string,
  answer: string,
  { level = 'semantic', rules }: Expectation,
): Pick<CheckedAnswer, 'verdict' | 'differences' | 'more'> {
  // `diff` skips lists and polls by their method; an expectation of a saved call always counts.
  const asked = { method: '' }
  const settings = { level, rules, varying: false }
  const text = `{"jsonrpc":"2.0","id":0,${expected.slice(1)}`
  const { verdict, differences, more } = compareAnswers({ text }, { text: answer }, asked, settings)
  // Both responses exist, so no other verdict is possible.
  return { verdict: verdict as CheckedAnswer['verdict'], differences, more }
}

function differencesAt(answer: string, { path, value, matcher }: ExpectedPlace): Difference[] {
  const found = placesIn(path, answer, value?.startsWith('"') ?? true)
  const expected = value ?? JSON.stringify(`‹${matcher!.text}›`)
  if (found.length === 0) return [{ kind: 'removed', place: path.steps ?? [path.text], before: expected }]
  return found.flatMap(({ place, text }): Difference[] => {
    if (value === undefined)
      return matchesAlone(matcher!, text) ? [] : [{ kind: 'changed', place, before: expected, after: text }]
    if (matcher?.accepts(value, text)) return []
    const { differences } = diffJson(value, wholeOf(value), text, wholeOf(text))
    return differences.map(({ place: inner, oldPlace: _, ...difference }) => ({
      ...difference,
      place: [...place, ...inner],
    }))
  })
}

function wholeOf(text: string): { readonly start: number; readonly end: number } {
  return jsonIn(text) ?? { start: 0, end: text.length }
}
