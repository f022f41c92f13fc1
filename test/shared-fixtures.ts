import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../shared/fixtures')
let said = false

/**
 * Real recordings beside the project, in `../shared/fixtures`, which are not part of it.
 *
 * @param path Relative to that folder; `''` is the folder itself.
 * @returns The absolute path, or `undefined` when the folder does not exist. Prints one line about that, once.
 * If the folder exists but the file does not, the test must handle that.
 */
export function sharedFixture(path: string): string | undefined {
  if (existsSync(folder)) return join(folder, path)
  if (!said) process.stderr.write('left out: ../shared/fixtures not found\n')
  said = true
  return undefined
}
