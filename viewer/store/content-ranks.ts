import { effect, signal } from '@preact/signals'
import { reader, tellFailure } from './actions.js'
import { order, reading, table, version } from './state.js'

/** Places of contents in the alphabet, by row, as the worker told them last. Contents are in the file, so only the worker knows them. */
export const contentRanks = signal<Int32Array>(new Int32Array(0))

/** Between two questions about a recording that grows. */
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
