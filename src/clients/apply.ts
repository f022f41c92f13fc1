import { writeConfigFile } from './config-file.js'
import type { FileChange } from './change.js'
import type { Ledger } from './ledger.js'

/** A file that could not be written; its servers are unchanged. */
export interface FailedFile {
  readonly path: string
  readonly reason: string
}

/**
 * Writes the files of a plan, each atomically. The ledger holds an entry before the file does and until the file
 * no longer does, so a crash in between loses no original.
 */
export async function applyPlan(files: readonly FileChange[], ledger: Ledger): Promise<FailedFile[]> {
  const failed: FailedFile[] = []
  for (const { file, text, ledger: notes } of files) {
    for (const note of notes) if ('put' in note) ledger.put(note.put)
    await ledger.save()
    try {
      await writeConfigFile(file, text)
    } catch (error) {
      failed.push({ path: file.path, reason: error instanceof Error ? error.message : String(error) })
      continue
    }
    for (const note of notes)
      if ('forget' in note) ledger.forget(note.forget.file, note.forget.servers, note.forget.name)
    await ledger.save()
  }
  return failed
}
