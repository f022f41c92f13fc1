import { diffJson, toJsonPath, type Difference } from '../../src/compare/index.js'
import { findJsonValue, isFault } from '../../src/wire/index.js'
import { WordDiff } from './word-diff.js'
import { clean } from '../shell/clean.js'

/** Changes by a person or a rule, member by member. */
export function Original({ original, sent }: { readonly original: string; readonly sent: string }) {
  return (
    <section class="original">
      <h4>Edited before it was forwarded</h4>
      <Differences left={original} right={sent} names={['received', 'forwarded']} />
    </section>
  )
}

/** Two JSON texts side by side, reduced to their differences. */
export function Differences(props: {
  readonly left: string
  readonly right: string
  readonly names: readonly [left: string, right: string]
}) {
  const { left, right } = props
  const [leftSpan, rightSpan] = [findJsonValue(left), findJsonValue(right)]
  if (isFault(leftSpan) || isFault(rightSpan)) return <p class="quiet">One version is not JSON.</p>
  const { differences, more } = diffJson(left, leftSpan, right, rightSpan, { most: 200 })
  if (differences.length === 0) return <p class="quiet">Only white space or the order of members differs.</p>
  return <DifferenceTable differences={differences} more={more} names={props.names} />
}

export function DifferenceTable(props: {
  readonly differences: readonly Difference[]
  readonly more: number
  readonly names: readonly [left: string, right: string]
}) {
  return (
    <>
      <table class="differences">
        <thead>
          <tr>
            <th scope="col">path</th>
            <th scope="col">{props.names[0]}</th>
            <th scope="col">{props.names[1]}</th>
          </tr>
        </thead>
        <tbody>
          {props.differences.map((difference, i) => (
            <tr key={i} class={`is-${difference.kind}`}>
              <th scope="row">{clean(toJsonPath(difference.place))}</th>
              <Sides before={difference.before} after={difference.after} />
            </tr>
          ))}
        </tbody>
      </table>
      {props.more > 0 && <p class="quiet">{props.more} more differences</p>}
    </>
  )
}

/** Longer texts are compared word by word; all else is shown side by side. */
function Sides({
  before,
  after,
}: {
  readonly before?: string | undefined
  readonly after?: string | undefined
}) {
  const [old, now] = [textIn(before), textIn(after)]
  if (old !== undefined && now !== undefined && Math.min(old.length, now.length) >= shortestText)
    return (
      <td class="words" colSpan={2}>
        <WordDiff before={old} after={now} />
      </td>
    )
  return (
    <>
      <td class="before">{short(before)}</td>
      <td class="after">{short(after)}</td>
    </>
  )
}

const shortestText = 24

/** The decoded text of a JSON string; undefined for other values. */
function textIn(json: string | undefined): string | undefined {
  if (json === undefined || !json.startsWith('"') || json.length > 200_000) return undefined
  return JSON.parse(json) as string
}

function short(text: string | undefined): string {
  if (text === undefined) return '—'
  return clean(text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text)
}
