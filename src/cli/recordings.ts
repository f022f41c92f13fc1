import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createFold, type Diagnostic, type Fold, type TapeRecord } from '../model/index.js'
import { openRecording, type RecordingFile } from '../tape/index.js'
import { idKey } from '../wire/index.js'

/** A recording that was read once: the model without payloads, and a way to read the records again. */
export interface LoadedRecording {
  readonly files: readonly RecordingFile[]
  readonly fold: Fold
  /** What is wrong with the files; of very many only the first. */
  readonly problems: readonly Problem[]
  readonly problemCount: number
  /** The records that were folded, in the same order; what was written since then is left out. */
  records(): AsyncIterable<TapeRecord>
}

/** A problem and the file it is in, as the user named it. */
export type Problem = Diagnostic & { readonly file: string }

const problemsKept = 1_000

/**
 * Opens files and joins those that are segments of one session. `-` is stdin, kept in a private temporary
 * file meanwhile, because a recording is read twice.
 *
 * @throws WiretapeError when a file cannot be read or is no recording
 */
export async function loadRecordings(
  paths: readonly string[],
  cwd: string,
): Promise<{ recordings: LoadedRecording[]; close(): Promise<void> }> {
  const spools: string[] = []
  const close = async (): Promise<void> => {
    for (const folder of spools) await rm(folder, { recursive: true, force: true })
  }
  try {
    const opened: OpenedFile[] = []
    for (const path of paths) {
      const real = path === '-' ? await spool(spools) : resolve(cwd, path)
      opened.push(await firstLook(await openRecording(real), path === '-' ? 'stdin' : path))
    }
    const recordings: LoadedRecording[] = []
    for (const group of joinSegments(opened)) recordings.push(await load(group))
    return { recordings, close }
  } catch (error) {
    await close()
    throw error
  }
}

interface OpenedFile {
  readonly file: RecordingFile
  readonly name: string
  readonly session: string | undefined
  readonly segment: number
}

async function spool(spools: string[]): Promise<string> {
  const folder = await mkdtemp(join(os.tmpdir(), 'wiretape-'))
  spools.push(folder)
  const path = join(folder, 'stdin')
  await pipeline(process.stdin, createWriteStream(path, { mode: 0o600 }))
  return path
}

async function firstLook(file: RecordingFile, name: string): Promise<OpenedFile> {
  for await (const record of file.format.read(file.bytes(), () => undefined)) {
    const identity = record.type === 'meta' ? record.wiretape : undefined
    return { file, name, session: identity?.session, segment: identity?.segment ?? 0 }
  }
  return { file, name, session: undefined, segment: 0 }
}

function joinSegments(files: readonly OpenedFile[]): OpenedFile[][] {
  const groups: OpenedFile[][] = []
  for (const file of files) {
    const same = groups.find(([first]) => first!.session !== undefined && first!.session === file.session)
    if (same && !same.some(({ segment }) => segment === file.segment)) same.push(file)
    else groups.push([file])
  }
  return groups.map((group) => group.toSorted((a, b) => a.segment - b.segment))
}

async function load(group: readonly OpenedFile[]): Promise<LoadedRecording> {
  const fold = createFold(idKey)
  const problems: Problem[] = []
  let problemCount = 0
  let count = 0
  for (const { file, name } of group) {
    const report = (diagnostic: Diagnostic): void => {
      problemCount += 1
      if (problems.length < problemsKept) problems.push({ ...diagnostic, file: name })
    }
    for await (const record of file.format.read(file.bytes(file.sizeBytes), report)) {
      fold.push(record)
      count += 1
    }
  }
  async function* records(): AsyncIterable<TapeRecord> {
    let seen = 0
    for (const { file } of group) {
      for await (const record of file.format.read(file.bytes(file.sizeBytes), () => undefined)) {
        if (seen === count) return
        seen += 1
        yield record
      }
    }
  }
  return { files: group.map(({ file }) => file), fold, problems, problemCount, records }
}
