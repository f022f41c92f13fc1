import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { table, version } from './state.js'

/** Maximum number of rows processed without a pause. */
const rowsAtOnce = 60_000
/** Time per slice, so that the page can draw and respond in between. */
const sliceMs = 12

/**
 * A value computed from all rows, again when rows arrive or the inputs change. For a long recording it is
 * computed in slices; until then, the previous value stays.
 *
 * @param inputs its dependencies besides the rows; undefined while the value is not needed
 * @param work yields every few thousand rows
 */
export function sliced<T>(
  empty: T,
  inputs: () => readonly unknown[] | undefined,
  work: () => Generator<void, T>,
): ReadonlySignal<T> {
  const found = signal(empty)
  let stop: (() => void) | undefined
  let busy: readonly unknown[] | undefined
  let again = false

  function start(): void {
    again = false
    stop = inSlices(work(), (value) => {
      found.value = value
      if (again) start()
      else busy = undefined
    })
  }

  effect(() => {
    version.value
    const wanted = inputs()
    if (!wanted) return
    if (table.length <= rowsAtOnce) {
      stop?.()
      busy = undefined
      found.value = untracked(() => whole(work()))
    } else if (busy && busy.every((one, i) => one === wanted[i])) {
      // New rows do not discard a computation under way.
      again = true
    } else {
      stop?.()
      busy = wanted
      start()
    }
  })
  return found
}

function whole<T>(steps: Generator<void, T>): T {
  for (;;) {
    const { done, value } = steps.next()
    if (done) return value
  }
}

/** Runs the steps in separate tasks; the returned function cancels them. */
export function inSlices<T>(steps: Generator<void, T>, done: (value: T) => void): () => void {
  const { port1, port2 } = new MessageChannel()
  let isOver = false
  const stop = (): void => {
    isOver = true
    port1.close()
  }
  port1.onmessage = () => {
    if (isOver) return
    const end = performance.now() + sliceMs
    while (performance.now() < end) {
      const step = steps.next()
      if (!step.done) continue
      stop()
      done(step.value)
      return
    }
    port2.postMessage(null)
  }
  port2.postMessage(null)
  return stop
}
