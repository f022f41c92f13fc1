import { effect, signal, untracked, type ReadonlySignal } from '@preact/signals'
import { table, version } from './state.js'

/** Up to so many rows are looked at without a break. */
const rowsAtOnce = 60_000
/** Of a frame, so that the page can draw and answer in between. */
const sliceMs = 12

/**
 * Something that is found by looking at all rows, anew when rows came or the inputs are others. Of a long recording it
 * is found in slices; until then it is what was found last.
 *
 * @param inputs what it depends on besides the rows; undefined while nobody wants it
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
      // Rows came: what is under way is not thrown away for them.
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

/** Goes through the steps in turns of their own; the function that is returned ends it. */
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
