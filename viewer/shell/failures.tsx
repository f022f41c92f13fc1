import { lanes } from '../store/state.js'
import { failureText } from './failure.js'

/** What could not be read, and why. */
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
