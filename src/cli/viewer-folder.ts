import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the built viewer is: beside the bundled program, or two folders above the compiled one. */
export function viewerFolder(): string {
  const beside = fileURLToPath(new URL('../viewer/', import.meta.url))
  return existsSync(beside) ? beside : fileURLToPath(new URL('../../viewer/', import.meta.url))
}
