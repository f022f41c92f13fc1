import v8 from 'node:v8'
import vm from 'node:vm'

/** Read since the last collection; small beside what a process has, and a collection of it takes well under 1 ms. */
const mostBytes = 4 * 1024 * 1024

/** Keeps the memory of what was read and passed on from piling up. */
export interface ReadBuffers {
  /** So many bytes were read into memory of their own. */
  passed(sizeBytes: number): void
}

/**
 * Node reads every chunk into a new buffer outside of the heap. The engine sees only the small objects that stand
 * for them, and lets tens of megabytes pile up before it has reason to look. So it is asked to collect what is
 * young every few megabytes.
 */
export function createReadBuffers(): ReadBuffers {
  let bytes = 0
  let due = false
  return {
    passed(sizeBytes) {
      bytes += sizeBytes
      if (bytes < mostBytes || due) return
      due = true
      // After what is being passed on now.
      setImmediate(() => {
        bytes = 0
        due = false
        collectYoung()
      })
    },
  }
}

type Collect = (options: { type: 'minor' }) => void

let collect: Collect | undefined

function collectYoung(): void {
  collect ??= engineCollect()
  collect({ type: 'minor' })
}

/** The engine's own function, which only a flag makes visible. */
function engineCollect(): Collect {
  try {
    v8.setFlagsFromString('--expose-gc')
    const found: unknown = vm.runInNewContext('gc')
    v8.setFlagsFromString('--no-expose-gc')
    if (typeof found === 'function') return found as Collect
  } catch {
    // An engine without it: it collects when it likes to.
  }
  return () => undefined
}
