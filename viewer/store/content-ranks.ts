import { effect, signal } from '@preact/signals'
import { reader, tellFailure } from './actions.js'
import { order, reading, table, version } from './state.js'

/** Alphabetical ranks of contents by row, from the worker: only it can read contents from the file. */
export const contentRanks = signal<Int32Array>(new Int32Array(0))

/** Interval between two requests while a recording grows. */
const pauseMs = 1_000
let asks = false

effect(() => {
  version.value
  if (order.value.key !== 'content' || reading.value || asks) return
  if (contentRanks.peek().length < table.length) void ask()
})

async function ask(): Promise<void> {
  asks = true
  try {
    contentRanks.value = await reader().call<Int32Array>('contentRanks', [])
  } catch (error) {
    tellFailure(error)
    return
  }
  setTimeout(() => {
    asks = false
    if (order.peek().key === 'content' && contentRanks.peek().length < table.length) void ask()
  }, pauseMs)
}
