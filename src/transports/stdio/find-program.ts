import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, resolve } from 'node:path'
import { reasonNotStarted } from './process-end.js'

/** Where a program without a slash is looked for when there is no PATH (glibc). */
const usualPath = '/bin:/usr/bin'

/**
 * Why a command could not be started, found by looking for its program as `spawn` does, without starting it. Undefined
 * when it is there; always on Windows, where more decides than a file.
 */
export function reasonNotFound(
  [file = '']: readonly string[],
  path = process.env['PATH'] ?? usualPath,
): string | undefined {
  if (process.platform === 'win32') return undefined
  // An empty entry is the working directory.
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
