import { Component, type ComponentChildren } from 'preact'
import { clean } from '../shell/clean.js'
import { wordsOf } from './state.js'

interface Props {
  /** What is drawn inside, as JSON; none where that is more than one message. */
  readonly json?: string
  readonly children: ComponentChildren
  /** Drawn below the line that says what went wrong. */
  readonly instead?: ComponentChildren
}

interface State {
  readonly fault?: string
  readonly json?: string | undefined
}

const longest = 2_000

/** A part of the page whose failure is told in one line; the rest goes on. Another message gets another try. */
export class Boundary extends Component<Props, State> {
  override componentDidCatch(error: unknown): void {
    this.setState({ fault: wordsOf(error), json: this.props.json })
  }

  override render({ json, children, instead }: Props, { fault, json: failed }: State) {
    if (fault === undefined || failed !== json) return children
    return (
      <>
        <p class="failure" role="alert">
          {json === undefined
            ? `Cannot show this part: ${clean(fault)}`
            : `Cannot show this message: ${clean(fault)}. Its JSON: ${clean(json.slice(0, longest))}`}
        </p>
        {instead}
      </>
    )
  }
}
