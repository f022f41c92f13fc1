import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { More } from '../shell/more.js'

/** How much of a list is drawn, and the button that draws more. Peers may send lists of any length. */
export function useListed<T>(all: readonly T[], atOnce: number, noun: string) {
  const [limit, setLimit] = useState(atOnce)
  const left = Math.max(0, all.length - limit)
  const more = left > 0 && (
    <More left={left} step={atOnce} noun={noun} class="act-more" show={() => setLimit(limit + atOnce)} />
  )
  return { shown: left > 0 ? all.slice(0, limit) : all, more }
}

/** The first elements of a list, and a button for the next ones. */
export function Listed<T>(props: {
  readonly all: readonly T[]
  readonly atOnce: number
  /** Singular. */
  readonly noun: string
  readonly draw: (one: T, i: number) => ComponentChildren
}) {
  const { shown, more } = useListed(props.all, props.atOnce, props.noun)
  return (
    <>
      {shown.map(props.draw)}
      {more}
    </>
  )
}
