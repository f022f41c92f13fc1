import { describeOffer } from '../../src/compare/index.js'
import { Versions } from '../diff/versions.js'
import { offsetText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { select } from '../store/actions.js'
import { findingsOfChange } from '../store/findings.js'
import { origin, view } from '../store/state.js'
import type { OfferStep } from '../worker/tools.js'

/** One change of a definition: time, severity, and the text before and after. */
export function Change({ step, lane }: { readonly step: OfferStep; readonly lane: number }) {
  const { row, at, change } = step
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
      <Versions versions={step} />
    </li>
  )
}
