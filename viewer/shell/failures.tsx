import { lanes } from '../store/state.js'
import { failureText } from './failure.js'

/** Recordings that could not be read, with the reasons. */
export function Failures() {
  return lanes.value.map(
    (one) =>
      one.failure && (
        <p key={one.index} class="failure">
          {failureText(one.failure)}
        </p>
      ),
  )
}
