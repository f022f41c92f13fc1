import { describeOffer } from '../../src/compare/index.js'
import { indentJson } from '../../src/render/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { offsetText } from '../list/row.js'
import { WordDiff } from '../reading/word-diff.js'
import { clean } from '../shell/clean.js'
import { select } from '../store/actions.js'
import { findingsOfChange } from '../store/findings.js'
import { origin, view } from '../store/state.js'
import type { OfferStep } from '../worker/tools.js'

/** One change of a definition: time, severity, and the text before and after. */
export function Change({
  step: { row, at, change, before, after },
  lane,
}: {
  readonly step: OfferStep
  readonly lane: number
}) {
  const members = before === undefined || after === undefined ? [] : changedMembers(before, after)
  return (
    <li class={`impact-${change.impact}`}>
      <button
        type="button"
        class="bare link-like"
        onClick={() => {
          select(row)
          view.value = 'messages'
        }}
      >
        {at === 0 ? '–' : offsetText(at - origin.value)}
      </button>{' '}
      <span class="tag">{change.impact}</span> {clean(describeOffer(change))}{' '}
      {findingsOfChange(lane, row, change.kind, change.name).map((one) => (
        <em key={one.hash} class={`tag level-${one.level}`} title={`${one.rule}: ${clean(one.message)}`}>
          {one.rule.replace(/^.*\//, '')}
        </em>
      ))}
      {members.length > 0 && (
        <details class="versions">
          <summary>Text changes</summary>
          <dl>
            {members.map(({ name, old, now }) => (
              <div key={name}>
                <dt>{clean(name)}</dt>
                <dd>
                  <WordDiff before={old} after={now} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </li>
  )
}

interface ChangedMember {
  readonly name: string
  readonly old: string
  readonly now: string
}

/** Members of a definition with changed text. */
function changedMembers(before: string, after: string): ChangedMember[] {
  const [old, now] = [before, after].map((text) => new Map(new JsonObject(text, 0).others()))
  return [...new Set([...old!.keys(), ...now!.keys()])].flatMap((name) => {
    const [was, is] = [old!.get(name), now!.get(name)]
    return was === is ? [] : [{ name, old: readable(was), now: readable(is) }]
  })
}

function readable(json: string | undefined): string {
  if (json === undefined) return ''
  return json.startsWith('"') ? (JSON.parse(json) as string) : indentJson(json)
}
