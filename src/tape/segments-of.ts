import { existsSync } from 'node:fs'
import { segmentPath } from './tape-path.js'

/** Paths of the existing segments of a tape, oldest first. @param tape the first one */
export function segmentsOf(tape: string): string[] {
  const paths: string[] = []
  for (let segment = 0; ; segment += 1) {
    const path = segmentPath(tape, segment)
    if (!existsSync(path)) return paths
    paths.push(path)
  }
}
