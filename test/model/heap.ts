import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes that are held, in objects and in typed arrays, after everything that can be let go was let go. */
export function heldBytes(): number {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

/** Bytes held by objects. The memory of typed arrays is not counted, because it is freed later. */
export function heldByObjects(): number {
  collect()
  return process.memoryUsage().heapUsed
}
