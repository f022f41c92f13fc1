import { session } from './session.js'
import { channel } from './state.js'

/** Maximum number of kept states. */
const mostKept = 1_000

let owner = ''
const states = new Map<string, unknown>()

/**
 * State of the workbench that outlives the parts that draw it: closing the workbench, another tab, another tool. It ends
 * with the session, or with the control of the capture.
 *
 * @param make for the first use of this id
 */
export function kept<T>(id: string, make: () => T): T {
  const now = session.value?.id ?? channel.value?.id ?? ''
  if (now !== owner) states.clear()
  owner = now
  const found = states.get(id) as T | undefined
  const state = found ?? make()
  // The oldest unused state is the first to be dropped.
  states.delete(id)
  states.set(id, state)
  for (const old of states.keys()) {
    if (states.size <= mostKept) break
    states.delete(old)
  }
  return state
}
