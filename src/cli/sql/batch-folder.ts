import { randomUUID } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isAbandoned, replaceFile } from '../../tape/index.js'
import { threadedBytes } from '../line-chunks.js'
import type { BatchFailure, BatchMember } from './batch.js'
import {
  batchesIn,
  batchPrefix,
  listOf,
  namesIn,
  othersOf,
  removeBatch,
  type Batch,
  type Part,
} from './batch-list.js'
import { deadPartsIn, writeDeadPart } from './dead-parts.js'
import { writeBatches, type WrittenBatch } from './write-batches.js'

/** Files of recordings per batch. A larger recording is alone. */
const batchBytes = 32 << 20
/** Recordings per batch: the deletion of one deletes the batch, and the others are indexed again. */
const mostRecordings = 250
/** Smaller batches are joined when there are many. */
const smallBytes = 4 << 20
const mostSmall = 8
/** Another query may be about to open a batch of this age. */
const openedWithinMs = 60_000

/** The files of a batch for a query. */
export interface RowFile {
  /** Parquet files of messages and of other rows. */
  readonly messages: string
  readonly others: string
  /** The query's recordings in it; undefined if it has no others. */
  readonly parts: readonly string[] | undefined
}

export type IndexedRecording = BatchMember & { readonly sizeBytes: number }

/**
 * The indexes of a folder's recordings: Parquet files of many recordings each, since engines and disks need a few
 * milliseconds for each file. Beside each is a list of its recordings and their states, which is written last.
 */
export class BatchFolder {
  readonly #folder: string
  /** Batches in use, known after a sweep: reading all lists takes milliseconds. */
  #swept: readonly Batch[] | undefined

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Files with the rows of the recordings; makes those that are missing. @throws WiretapeError `unwritable` */
  async files(
    recordings: readonly IndexedRecording[],
    cwd: string,
  ): Promise<{ readonly files: readonly RowFile[]; readonly failures: readonly BatchFailure[] }> {
    const wanted = new Map(recordings.map((recording) => [recording.part, recording]))
    const found = chosenOf(this.#swept ?? batchesIn(this.#folder), (part) => wanted.has(part))
    const small = found.filter(({ batch }) => isSmall(batch))
    const kept = small.length > mostSmall ? found.filter((batch) => !small.includes(batch)) : found
    const indexed = new Set(kept.flatMap(({ parts }) => parts))
    const dead = deadPartsIn(this.#folder).filter(({ part }) => wanted.has(part))
    for (const { part } of dead) indexed.add(part)
    const missing = recordings.filter(({ part }) => !indexed.has(part))
    // The main thread opens the engine meanwhile, and outlives a recording that needs too much memory.
    const isLarge = missing.some(({ sizeBytes }) => sizeBytes >= threadedBytes)
    const { made, failures } = await this.#make(groupsOf(missing), cwd, isLarge)
    const files = [...kept, ...chosenOf(made, () => true)]
    return {
      files: files.map(({ batch, parts }) => ({
        messages: join(this.#folder, batch.name),
        others: join(this.#folder, othersOf(batch.name)),
        parts: parts.length === batch.parts.length ? undefined : parts,
      })),
      failures: [...dead, ...failures],
    }
  }

  /** Deletes the batches with deleted recordings, and outdated ones. @param current parts of all recordings */
  async sweep(current: ReadonlySet<string>): Promise<void> {
    const batches = batchesIn(this.#folder)
    const left = batches.filter(({ parts }) =>
      parts.every(({ part, path }) => current.has(part) || existsSync(path)),
    )
    for (const batch of batches) if (!left.includes(batch)) removeBatch(this.#folder, batch.name)
    const used = new Set(chosenOf(left, (part) => current.has(part)).map(({ batch }) => batch))
    this.#swept = [...used]
    for (const batch of batches) if (!used.has(batch)) this.#removeOld(batch.name)
    const lists = new Set(batches.map(({ name }) => listOf(name)))
    for (const name of namesIn(this.#folder)) {
      const [, tag] = /^\.rows\d+-.*\.wiretape-(.*)$/.exec(name) ?? []
      if (tag !== undefined && (await isAbandoned(join(this.#folder, name), tag)))
        removeBatch(this.#folder, name)
      // Rows without a list, and those of other versions.
      else if (/^rows\d*-|\.rows\d+$/.test(name) && !lists.has(listOf(name))) this.#removeOld(name)
    }
  }

  /** @param inThreads see `writeBatches` */
  async #make(
    groups: readonly (readonly IndexedRecording[])[],
    cwd: string,
    inThreads: boolean,
  ): Promise<{ readonly made: readonly Batch[]; readonly failures: readonly BatchFailure[] }> {
    const made: Batch[] = []
    const failed: BatchFailure[] = []
    const again: IndexedRecording[][] = []
    const names = groups.map(() => `${batchPrefix}${randomUUID()}.parquet`)
    const orders = groups.map((group, i) => ({
      path: join(this.#folder, names[i]!),
      cwd,
      members: group.map(({ name, paths, areAll, part }) => ({ name, paths, areAll, part })),
    }))
    const done = async (i: number, { sizes, failures, isDead }: WrittenBatch): Promise<void> => {
      const group = groups[i]!
      // Each in a batch of its own, so that one recording does not take others with it.
      if (isDead && group.length > 1) return void again.push(...group.map((recording) => [recording]))
      failed.push(...failures)
      if (isDead) for (const failure of failures) await writeDeadPart(this.#folder, failure)
      if (!sizes) return
      const batch = { name: names[i]!, sizes, parts: partsOf(group, failures) }
      // Written at once: this batch is complete even if a later one fails.
      await replaceFile(join(this.#folder, listOf(batch.name)), JSON.stringify(batch))
      made.push(batch)
    }
    await writeBatches(orders, done, inThreads)
    if (again.length === 0) return { made, failures: failed }
    const rest = await this.#make(again, cwd, true)
    return { made: [...made, ...rest.made], failures: [...failed, ...rest.failures] }
  }

  #removeOld(name: string): void {
    const found = statSync(join(this.#folder, name), { throwIfNoEntry: false })
    if (found && Date.now() - found.mtimeMs > openedWithinMs) removeBatch(this.#folder, name)
  }
}

/** The batches with accepted parts. A part that is in several batches, as two processes may leave it, is taken once. */
function chosenOf(
  batches: readonly Batch[],
  accepts: (part: string) => boolean,
): { readonly batch: Batch; readonly parts: readonly string[] }[] {
  const taken = new Set<string>()
  return batches.flatMap((batch) => {
    const parts = batch.parts.map(({ part }) => part).filter((part) => accepts(part) && !taken.has(part))
    for (const part of parts) taken.add(part)
    return parts.length > 0 ? [{ batch, parts }] : []
  })
}

function groupsOf(recordings: readonly IndexedRecording[]): IndexedRecording[][] {
  const groups: IndexedRecording[][] = []
  let bytes = Infinity
  for (const recording of recordings) {
    bytes += recording.sizeBytes
    if (bytes > batchBytes || groups.at(-1)!.length === mostRecordings) {
      groups.push([])
      bytes = recording.sizeBytes
    }
    groups.at(-1)!.push(recording)
  }
  return groups
}

/** Recordings of a batch that were written. */
function partsOf(group: readonly IndexedRecording[], failures: readonly BatchFailure[]): Part[] {
  const failed = new Set(failures.map(({ part }) => part))
  return group
    .filter(({ part }) => !failed.has(part))
    .map(({ part, paths, sizeBytes }) => ({ part, path: paths[0]!, sizeBytes }))
}

function isSmall(batch: Batch): boolean {
  return tapeBytes(batch) < smallBytes && batch.parts.length < mostRecordings / 2
}

function tapeBytes({ parts }: Batch): number {
  return parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}
