import * as z from 'zod'
import { bytesOf, type ObjectStore } from '../../ship/index.js'
import { commitsPrefix } from './keys.js'

const commitSchema = z.looseObject({
  v: z.literal(1),
  batch: z.string().max(200),
  /** Files of rows: one for each day and server. */
  files: z.array(
    z.looseObject({ key: z.string().max(1_024), day: z.string().max(20), rows: z.int(), bytes: z.int() }),
  ),
  /** File of sessions: a row per session and segment. */
  sessions: z.looseObject({ key: z.string().max(1_024), bytes: z.int() }),
  segments: z.array(z.looseObject({ hash: z.string().max(64), rows: z.int() })),
})

/**
 * The files of a batch. A commit is written after them: files without a commit are leftovers of a killed collector, and
 * readers ignore them.
 */
export type BatchCommit = z.infer<typeof commitSchema>

export async function writeCommit(store: ObjectStore, commit: BatchCommit): Promise<void> {
  await store.put(`${commitsPrefix}${commit.batch}.json`, Buffer.from(JSON.stringify(commit)))
}

/** Undefined if it is no commit or has a newer version. */
export async function readCommit(store: ObjectStore, key: string): Promise<BatchCommit | undefined> {
  const text = Buffer.from(await bytesOf(store.get(key))).toString('utf8')
  try {
    return commitSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Files of a batch that a query reads, and their segments that another batch already counts. */
export interface ChosenBatch {
  readonly commit: BatchCommit
  readonly skipped: readonly string[]
}

/**
 * The batches that count. A segment in several batches (a collector was killed between commit and acknowledgement) counts
 * in the first by name.
 */
export function chooseBatches(commits: readonly BatchCommit[]): ChosenBatch[] {
  const seen = new Set<string>()
  const chosen: ChosenBatch[] = []
  for (const commit of commits.toSorted((a, b) => (a.batch < b.batch ? -1 : 1))) {
    const skipped: string[] = []
    for (const { hash } of commit.segments) {
      if (seen.has(hash)) skipped.push(hash)
      else seen.add(hash)
    }
    if (skipped.length < commit.segments.length) chosen.push({ commit, skipped })
  }
  return chosen
}
