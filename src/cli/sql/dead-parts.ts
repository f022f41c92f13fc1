import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '../../tape/index.js'
import type { BatchFailure } from './batch.js'
import { namesIn } from './batch-list.js'

/** Kind of the files that remember recordings whose thread died; incremented when their content changes. */
export const deadKind = 'dead1'

/** Remembers that a thread died of a recording in this state: each try would take seconds and much memory. */
export async function writeDeadPart(folder: string, failure: BatchFailure): Promise<void> {
  await replaceFile(join(folder, `${failure.part}.${deadKind}`), JSON.stringify(failure))
}

export function deadPartsIn(folder: string): BatchFailure[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(`.${deadKind}`))
    .flatMap((name) => {
      try {
        return [JSON.parse(readFileSync(join(folder, name), 'utf8')) as BatchFailure]
      } catch {
        // Another process deletes it, or a failing disk truncated it.
        return []
      }
    })
}
