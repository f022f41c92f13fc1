import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(import.meta.dirname, '../../shared/fixtures')
let said = false

/**
 * Real recordings that are kept beside the project, in `../shared/fixtures`, not in it.
 *
 * @param path Relative to that folder; `''` is the folder itself.
 * @returns The absolute path, or `undefined` when the folder does not exist: a checkout on its own.
 *   Says so in one line, once. A file missing in a folder that does exist is for the test to notice.
 */
export function sharedFixture(path: string): string | undefined {
  if (existsSync(folder)) return join(folder, path)
  if (!said) process.stderr.write('left out: ../shared/fixtures not found\n')
  said = true
  return undefined
}
