import { describeOffer } from '../../src/compare/index.js'
import { Versions } from '../diff/versions.js'
import { offsetText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { FindingTag } from '../shell/finding-tag.js'
import { findingsOfChange } from '../store/findings.js'
import { laneName } from '../store/lane-name.js'
import { lanes, origin } from '../store/state.js'
import type { OfferStep } from '../worker/tools.js'
import { ToRow } from './to-row.js'

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
      <ToRow row={row} text={at === 0 ? '–' : offsetText(at - origin.value)} />{' '}
      <span class="tag">{change.impact}</span> {clean(describeOffer(change))}{' '}
      {earlier && <span class="quiet">since {clean(laneName(earlier))} </span>}
      {findingsOfChange(lane, row, change.kind, change.name).map((one) => (
        <FindingTag key={one.hash} finding={one} />
      ))}
      <Versions versions={step} isOpen={isOpen} />
    </li>
  )
}
