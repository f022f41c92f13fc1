import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import { remember, remembered } from './memory.js'

/** Two panes with a bar between them, moved by dragging or by the arrow keys. */
export function Splitter(props: {
  readonly name: string
  /** On a small screen only one pane is shown: the second one if true. */
  readonly showsSecond: boolean
  readonly first: ComponentChildren
  readonly second: ComponentChildren
}) {
  const box = useRef<HTMLDivElement>(null)
  const share = useSignal(Number(remembered(`split-${props.name}`) ?? 56) || 56)
  const set = (percent: number): void => {
    share.value = Math.max(25, Math.min(78, percent))
    remember(`split-${props.name}`, String(share.value))
  }
  return (
    <div
      class={props.showsSecond ? 'splitter shows-second' : 'splitter'}
      ref={box}
      style={{ '--share': `${share.value}%` }}
    >
      {props.first}
      <div
        class="split-bar"
        role="separator"
        tabIndex={0}
        aria-orientation="vertical"
        aria-label="List width"
        aria-valuenow={Math.round(share.value)}
        aria-valuemin={25}
        aria-valuemax={78}
        onKeyDown={(event) => {
          if (event.key === 'ArrowLeft') set(share.value - 2)
          if (event.key === 'ArrowRight') set(share.value + 2)
        }}
        onPointerDown={(event) => {
          const bar = event.currentTarget
          bar.setPointerCapture(event.pointerId)
          const move = (moved: PointerEvent): void => {
            const { left, width } = box.current!.getBoundingClientRect()
            set(((moved.clientX - left) / width) * 100)
          }
          bar.addEventListener('pointermove', move)
          bar.addEventListener('pointerup', () => bar.removeEventListener('pointermove', move), {
            once: true,
          })
        }}
      />
      {props.second}
    </div>
  )
}
