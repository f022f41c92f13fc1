import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { recordingsIn } from './data-folder.js'
import type { Io } from './io.js'

/**
 * The path of a recording that a user named: a path, or a bare file name of the data folder as `ls` prints it. A file of
 * that name in the working directory comes first. `-`, and names that lead nowhere, stay as they are.
 */
export function recordingPath(name: string, { cwd, dataFolder }: Pick<Io, 'cwd' | 'dataFolder'>): string {
  if (name === '' || name === '-' || basename(name) !== name || existsSync(resolve(cwd, name))) return name
  const listed = join(recordingsIn(dataFolder), name)
  return existsSync(listed) ? listed : name
}
