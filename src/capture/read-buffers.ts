import v8 from 'node:v8'
import vm from 'node:vm'

/** Bytes between two collections; small compared with a process, and collected in well under 1 ms. */
const mostBytes = 4 * 1024 * 1024

/** Keeps the memory of forwarded data from piling up. */
export interface ReadBuffers {
  /** This many bytes were read into separate memory. */
  passed(sizeBytes: number): void
}

/**
 * Node reads every chunk into a new buffer outside the heap. The engine sees only the small objects that represent
 * the buffers, and lets tens of megabytes pile up before it collects. A collection of young objects is therefore
 * requested every few megabytes.
 */
export function createReadBuffers(): ReadBuffers {
  let bytes = 0
  let due = false
  return {
    passed(sizeBytes) {
      bytes += sizeBytes
      if (bytes < mostBytes || due) return
      due = true
      // After the current data is forwarded.
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

/** The engine's own function, visible only with a flag. */
function engineCollect(): Collect {
  try {
    v8.setFlagsFromString('--expose-gc')
    const found: unknown = vm.runInNewContext('gc')
    v8.setFlagsFromString('--no-expose-gc')
    if (typeof found === 'function') return found as Collect
  } catch {
    // Engines without it collect when they choose to.
  }
  return () => undefined
}
