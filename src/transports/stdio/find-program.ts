import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { reasonNotStarted } from './process-end.js'

/** The search path for a program without a slash when `PATH` is not set (glibc). */
const usualPath = '/bin:/usr/bin'

/**
 * The reason why a command cannot be started. Looks for its program as `spawn` does, without starting it. Undefined
 * when the program exists, and always on Windows, where more than a file decides.
 */
export function reasonNotFound(
  [file = '']: readonly string[],
  path = process.env['PATH'] ?? usualPath,
): string | undefined {
  if (process.platform === 'win32') return undefined
  // An empty entry means the working directory.
  const places = file.includes('/') ? [file] : path.split(delimiter).map((folder) => resolve(folder, file))
  const troubles: unknown[] = []
  for (const place of places) {
    try {
      accessSync(place, constants.X_OK)
      if (statSync(place).isFile()) return undefined
      troubles.push(Object.assign(new Error(`${place} is not a file`), { code: 'EACCES' }))
    } catch (error) {
      troubles.push(error)
    }
  }
  const denied = troubles.find(
    (error) => error instanceof Error && 'code' in error && error.code === 'EACCES',
  )
  return reasonNotStarted(file, denied ?? Object.assign(new Error('not found'), { code: 'ENOENT' }))
}
