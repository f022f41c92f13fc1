import { createBag } from './bag.js'

/** A source that can stop reading. */
interface Holdable {
  hold(wait: boolean): void
}

/** Stops all reading at once, or resumes it. */
export interface FloodGate extends Holdable {
  readonly held: boolean
  /** Adds a source; while the gate is shut, it is held at once. Returns a function that removes it. */
  add(flow: Holdable): () => void
  /** Calls `step` now or, while the gate is shut, when it opens. Steps keep their order. */
  pass(step: () => void): void
}

export function createFloodGate(): FloodGate {
  const flows = createBag<Holdable>()
  const waiting: (() => void)[] = []
  let held = false
  return {
    get held() {
      return held
    },
    add(flow) {
      if (held) flow.hold(true)
      return flows.add(flow)
    },
    pass(step) {
      if (held) waiting.push(step)
      else step()
    },
    hold(wait) {
      held = wait
      // A step may shut the gate again.
      while (!held && waiting.length > 0) waiting.shift()?.()
      flows.each((flow) => flow.hold(held))
    },
  }
}
