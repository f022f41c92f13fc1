/**
 * Runs before every test file; several of them share a process. Leftovers of a test fail the run: an unhandled
 * rejection or exception (vitest reports these itself), a process warning, an open handle.
 */
import { afterAll } from 'vitest'
import { undoAll } from './after-file.js'

/** Warnings of Node about itself. */
const ofNodeItself = new Set(['ExperimentalWarning'])

const complain = (warning: Error): void => {
  if (ofNodeItself.has(warning.name)) return
  // A warning may come when no test is running any more; a rejection fails the run at any time.
  void Promise.reject(new Error(`process warning: ${warning.name}: ${warning.message}`))
}
/** An earlier file in this process has installed the listener. */
const mark = Symbol.for('wiretape.warnings')
if (!(mark in process)) {
  Object.assign(process, { [mark]: true })
  process.on('warning', complain)
}

/** Handles that should have been closed. Timers and file reads end by themselves. */
const owned = new Set([
  'ProcessWrap',
  'TCPServerWrap',
  'TCPSocketWrap',
  'TLSWrap',
  'PipeServerWrap',
  'PipeWrap',
  'UDPWRAP',
])
const graceMs = 3000
const before = countHandles()

afterAll(async () => {
  undoAll()
  // A handle closes some turns of the event loop after `close()`.
  const deadline = Date.now() + graceMs
  while (leaked().length > 0 && Date.now() < deadline) await new Promise((done) => setTimeout(done, 20))
  const left = leaked()
  if (left.length > 0) throw new Error(`left open after the last test: ${left.join(', ')}`)
})

function leaked(): string[] {
  return [...countHandles()].flatMap(([kind, count]) => {
    const more = count - (before.get(kind) ?? 0)
    return more > 0 ? [`${more} ${kind}`] : []
  })
}

function countHandles(): Map<string, number> {
  const counts = new Map<string, number>()
  for (const kind of process.getActiveResourcesInfo()) {
    if (owned.has(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return counts
}
