import { countOf, formatCount } from '../../src/render/index.js'

/** The button below a part of a list that adds `step` entries. */
export function More(props: {
  /** Number of entries that are not shown. */
  readonly left: number
  readonly step: number
  /** Singular; without it, only the number is shown. */
  readonly noun?: string
  readonly class?: string
  readonly show: () => void
}) {
  const { left, step, noun } = props
  return (
    <button type="button" class={`button small ${props.class ?? ''}`.trimEnd()} onClick={props.show}>
      Show {formatCount(Math.min(left, step))} more of{' '}
      {noun === undefined ? formatCount(left) : countOf(left, noun)}
    </button>
  )
}
