import { escapeText, formatBytes, truncate } from '../render/index.js'
import { hasAudience, paint } from './io.js'

/** Shorter work shows no progress. */
const quietMs = 1000
const betweenMs = 100
/** For wide and other terminals. */
const barCells = { wide: 20, narrow: 8 }

let last = 0

/**
 * The same chunks, with progress on one line of stderr, which is repainted and erased before any other output.
 * Shows nothing if stderr is no terminal.
 *
 * @param name as the user named the file
 * @param chunks with their length in bytes of the file
 */
export function withProgress<T extends { readonly length: number }>(
  name: string,
  chunks: AsyncIterable<T>,
  sizeBytes: number,
): AsyncIterable<T> {
  return hasAudience() && sizeBytes > 0 ? watched(name, chunks, sizeBytes) : chunks
}

async function* watched<T extends { readonly length: number }>(
  name: string,
  chunks: AsyncIterable<T>,
  sizeBytes: number,
): AsyncGenerator<T, void, undefined> {
  let done = 0
  const begunMs = performance.now()
  for await (const chunk of chunks) {
    done += chunk.length
    const now = performance.now()
    if (done < sizeBytes && now - begunMs > quietMs && now - last >= betweenMs) {
      last = now
      paint(progressLine(name, Math.min(1, done / sizeBytes), sizeBytes))
    }
    yield chunk
  }
}

function progressLine(name: string, part: number, sizeBytes: number): string {
  const columns = process.stderr.columns || 80
  const cells = columns < 60 ? barCells.narrow : barCells.wide
  const full = Math.round(part * cells)
  const bar = '█'.repeat(full) + '░'.repeat(cells - full)
  const percent = String(Math.floor(part * 100)).padStart(3)
  const line = `${bar} ${percent} % of ${formatBytes(sizeBytes)}  ${escapeText(name.slice(-40))}`
  return truncate(line, Math.max(1, columns - 1))
}

/**
 * Shows a count of completed items on the same kind of line. Nothing if stderr is no terminal.
 *
 * @param unit `messages`
 */
export function createCounter(total: number, unit: string): (done: number, what: string) => void {
  if (!hasAudience()) return () => undefined
  const begunMs = performance.now()
  return (done, what) => {
    const now = performance.now()
    if (now - begunMs <= quietMs || now - last < betweenMs) return
    last = now
    const line = `${done} of ${total} ${unit}  ${escapeText(what.slice(0, 60))}`
    paint(truncate(line, Math.max(1, (process.stderr.columns || 80) - 1)))
  }
}
