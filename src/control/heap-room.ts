import v8 from 'node:v8'

let given = false

/**
 * Lets the heap grow to three times its live size before a full collection. Serving attached programs makes a recorder
 * half as large again, and the heap is collected once after the code is loaded. From then on, the engine counts the
 * short-lived buffers for messages (megabytes outside the heap) as heap growth, and without this flag often does ten
 * full collections a second while large messages pass. The engines of Node 20, 22 and 24 know the flag.
 */
export function giveHeapRoom(): void {
  if (given) return
  given = true
  try {
    v8.setFlagsFromString('--heap-growing-percent=200')
  } catch {
    // The engine lacks the flag: its default policy applies.
  }
}
