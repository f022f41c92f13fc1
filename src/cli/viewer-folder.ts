import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The script for acting on live captures in `wiretape ui`: beside the viewer's folder, which any web server may serve. */
export function actingScript(): string {
  return join(viewerFolder(), '../acting/acting.js')
}

/** Folder of the built viewer: beside the bundled program, or two folders above the compiled one. */
export function viewerFolder(): string {
  const beside = fileURLToPath(new URL('../viewer/', import.meta.url))
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../viewer/', import.meta.url))
}

/** A small recording for users without one. */
export function sampleRecording(): string {
  return join(viewerFolder(), '../../examples/recordings/sample.jsonl')
}
