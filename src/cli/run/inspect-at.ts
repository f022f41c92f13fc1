import { createWriteStream } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import { openStore, type ObjectStore } from '../../ship/index.js'
import { SegmentReader } from '../fleet/segment-reader.js'
import type { Io } from '../io.js'
import { createSpools } from '../spools.js'
import { runInspect, type InspectOptions } from './inspect.js'

const segmentName = /^([0-9a-f]{8,64})(?:#(\d{1,15}))?$/

/** Like `runInspect`, for segments in a store. `HASH#SEQ` is one message with its payload. */
export async function runInspectAt(
  names: readonly string[],
  at: string,
  options: InspectOptions,
  io: Io,
): Promise<number> {
  const spools = createSpools()
  const store = await openStore(at, process.env)
  try {
    const folder = await mkdtemp(join(os.tmpdir(), 'wiretape-inspect-'))
    spools.add(folder)
    const reader = new SegmentReader(store)
    const seqs = new Set<string>()
    const paths: string[] = []
    for (const [i, name] of names.entries()) {
      const [, start, seq] = segmentName.exec(name) ?? []
      if (start === undefined)
        throw new WiretapeError('usage', `${escapeText(name)} is not a segment`, {
          hint: 'use HASH or HASH#SEQ, from the columns recording and seq of wiretape sql --at',
        })
      if (seq !== undefined) seqs.add(seq)
      const hash = await hashOf(store, start)
      // Separate folders: adjacent files of one session would be joined.
      const path = join(await mkdtemp(join(folder, `${i}-`)), `${hash.slice(0, 12)}.jsonl`)
      await pipeline(reader.all(hash), createWriteStream(path, { mode: 0o600 }))
      paths.push(path)
    }
    return await runInspect(paths, withSeqs(options, seqs), io)
  } finally {
    await spools.close()
    await store.close()
  }
}

function withSeqs(options: InspectOptions, seqs: ReadonlySet<string>): InspectOptions {
  if (seqs.size === 0) return options
  if (seqs.size > 1 || options.raw !== undefined || options.check)
    throw new WiretapeError('usage', 'HASH#SEQ selects one message', {
      hint: 'give only one, without --raw and --check',
    })
  const [seq] = seqs
  const filter = options.filter === undefined ? `seq:${seq}` : `(${options.filter}) seq:${seq}`
  return { verbose: true, ...options, filter }
}

async function hashOf(store: ObjectStore, start: string): Promise<string> {
  if (start.length === 64) return start
  const found: string[] = []
  for await (const { key } of store.list(`segments/${start.slice(0, 2)}/${start}`)) {
    const hash = /([0-9a-f]{64})\.json$/.exec(key)?.[1]
    if (hash !== undefined) found.push(hash)
  }
  if (found.length === 1) return found[0]!
  throw new WiretapeError(
    'unreadable',
    found.length === 0 ? `no segment ${start} in ${store.address}` : `several segments begin with ${start}`,
  )
}
