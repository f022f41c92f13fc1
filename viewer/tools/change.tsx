import { describeOffer } from '../../src/compare/index.js'
import { Versions } from '../diff/versions.js'
import { offsetText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { select } from '../store/actions.js'
import { findingsOfChange } from '../store/findings.js'
import { laneName } from '../store/lane-name.js'
import { lanes, origin, view } from '../store/state.js'
import type { OfferStep } from '../worker/tools.js'

interface ChangeProps {
  readonly step: OfferStep
  readonly lane: number
  /** Whether the texts are open at first. */
  readonly isOpen?: boolean
}

/** One change of a definition: time, severity, and the text before and after. */
export function Change({ step, lane, isOpen = false }: ChangeProps) {
  const { row, at, change, since } = step
  const earlier = since === undefined ? undefined : lanes.value[since]
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
      {earlier && <span class="quiet">since {clean(laneName(earlier))} </span>}
      {findingsOfChange(lane, row, change.kind, change.name).map((one) => (
        <em key={one.hash} class={`tag level-${one.level}`} title={`${one.rule}: ${clean(one.message)}`}>
          {one.rule.replace(/^.*\//, '')}
        </em>
      ))}
      <Versions versions={step} isOpen={isOpen} />
    </li>
  )
}
