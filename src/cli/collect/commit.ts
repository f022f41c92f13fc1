import * as z from 'zod'
import { bytesOf, type ObjectStore } from '../../ship/index.js'
import { commitsPrefix } from './keys.js'

const commitSchema = z.looseObject({
  v: z.literal(1),
  batch: z.string().max(200),
  /** Of rows: one for each day and server. */
  files: z.array(
    z.looseObject({ key: z.string().max(1_024), day: z.string().max(20), rows: z.int(), bytes: z.int() }),
  ),
  /** Of sessions: a row for each session in each segment. */
  sessions: z.looseObject({ key: z.string().max(1_024), bytes: z.int() }),
  segments: z.array(z.looseObject({ hash: z.string().max(64), rows: z.int() })),
})

/**
 * What a batch consists of. It is written after the batch's files: files that no commit names are leftovers of a collector that was
 * killed, and no reader looks at them.
 */
export type BatchCommit = z.infer<typeof commitSchema>

export async function writeCommit(store: ObjectStore, commit: BatchCommit): Promise<void> {
  await store.put(`${commitsPrefix}${commit.batch}.json`, Buffer.from(JSON.stringify(commit)))
}

/** Undefined for what is no commit, or one of a newer version. */
export async function readCommit(store: ObjectStore, key: string): Promise<BatchCommit | undefined> {
  const text = Buffer.from(await bytesOf(store.get(key))).toString('utf8')
  try {
    return commitSchema.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}

/** Files of a batch that a query reads, and the segments in them that another batch counts already. */
export interface ChosenBatch {
  readonly commit: BatchCommit
  readonly skipped: readonly string[]
}

/**
 * The batches that count. A segment that is in several of them (a collector was killed between its commit and its acknowledgement)
 * counts in the first by name.
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
