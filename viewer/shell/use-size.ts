import { useSignal, type Signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect } from 'preact/hooks'

/** The current width or height of an element. @param initial before the first layout */
export function useSize(
  box: RefObject<HTMLElement | null>,
  side: 'clientWidth' | 'clientHeight',
  initial: number,
): Signal<number> {
  const size = useSignal(initial)
  useLayoutEffect(() => {
    const element = box.current!
    const resized = new ResizeObserver(() => {
      size.value = element[side]
    })
    resized.observe(element)
    size.value = element[side]
    return () => resized.disconnect()
  }, [])
  return size
}
