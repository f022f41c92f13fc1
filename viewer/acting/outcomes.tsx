import { countOf, formatCount, formatDuration, indentJson } from '../../src/render/index.js'
import { JsonObject, kindAt } from '../../src/wire/index.js'
import { Later } from '../shell/views.js'
import { Listed } from './listed.js'
import { Whole } from './whole.js'

/** Different responses drawn at once. */
const responsesAtOnce = 10

/** What became of a request sent again. */
export interface Outcome {
  readonly answer?: string
  readonly latencyMs?: number
  readonly fault?: string
  readonly isCancelled?: boolean
}

/** Equal responses are shown once, with their count and latency; others with their differences. */
export function Outcomes(props: {
  readonly outcomes: readonly Outcome[]
  readonly before: string | undefined
}) {
  const { outcomes, before } = props
  const groups = new Map<string, Outcome[]>()
  for (const outcome of outcomes) {
    const key = outcome.isCancelled ? 'cancelled' : (outcome.fault ?? contentOf(outcome.answer ?? ''))
    const alike = groups.get(key)
    if (alike) alike.push(outcome)
    else groups.set(key, [outcome])
  }
  const ordered = [...groups].toSorted(([, one], [, other]) => other.length - one.length)
  const most = ordered.find(([, [first]]) => first!.answer !== undefined)?.[0]
  const base: Base | undefined =
    before !== undefined
      ? { content: contentOf(before), name: 'recorded' }
      : most === undefined
        ? undefined
        : { content: most, name: 'most frequent' }
  return (
    <section class="act-answers" aria-label="Responses" aria-live="polite">
      {outcomes.length > 1 && (
        <p class="quiet">
          {groups.size === 1 ? 'The same response' : countOf(groups.size, 'different response')} to{' '}
          {formatCount(outcomes.length)} requests
        </p>
      )}
      <Listed
        all={ordered}
        atOnce={responsesAtOnce}
        noun="response"
        draw={([content, alike]) => (
          <Alike key={content} content={content} alike={alike} of={outcomes.length} base={base} />
        )}
      />
    </section>
  )
}

/** The response with which others are compared. */
interface Base {
  readonly content: string
  readonly name: 'recorded' | 'most frequent'
}

function Alike(props: {
  readonly content: string
  readonly alike: readonly Outcome[]
  readonly of: number
  readonly base: Base | undefined
}) {
  const { content, alike, of, base } = props
  const isSame = content === base?.content
  const { fault, isCancelled = false } = alike[0]!
  const isFault = fault !== undefined
  const words = isCancelled
    ? 'cancelled'
    : isFault
      ? 'failed'
      : base?.name !== 'recorded'
        ? isSame || of === 1
          ? 'answered'
          : 'different response'
        : isSame
          ? 'same response as before'
          : 'different response'
  const took = alike.flatMap(({ latencyMs }) => (latencyMs === undefined ? [] : [latencyMs]))
  const differs = !isFault && !isCancelled && base !== undefined && !isSame
  return (
    <article>
      <h3>
        {of > 1 && `${alike.length} of ${of}: `}
        {words}
        {took.length > 0 && ` after ${spanOf(took)}`}
      </h3>
      {differs && (
        <Later part="Differences" of={{ left: base.content, right: content, names: [base.name, 'now'] }} />
      )}
      {isCancelled ? null : isFault ? (
        <Whole text={content} />
      ) : (
        <details open={!differs}>
          <summary>JSON</summary>
          <Whole text={content} />
        </details>
      )}
    </article>
  )
}

function spanOf(tookMs: readonly number[]): string {
  const sorted = tookMs.toSorted((one, other) => one - other)
  const [least, median, most] = [sorted[0]!, sorted[sorted.length >> 1]!, sorted.at(-1)!].map((ms) =>
    formatDuration(ms * 1000),
  )
  return least === most ? least! : `${least} to ${most}, median ${median}`
}

/** The result or error of a response, without its id. */
function contentOf(answer: string): string {
  if (kindAt(answer, 0) !== 'object') return answer
  const object = new JsonObject(answer, 0)
  const content = object.raw('result') ?? object.raw('error') ?? answer
  return indentJson(content)
}
