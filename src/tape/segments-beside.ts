import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { joinSegments, type SegmentPlace } from '../formats/index.js'
import { summarizeTape } from './summary.js'

/** Paths of the other segments of a segment's recording, as found by `wholeRecording`. */
export async function segmentsBeside(path: string): Promise<string[]> {
  return (await wholeRecording(path)).paths.filter((segment) => segment !== path)
}

/** A recording as files. */
interface Whole {
  /** In segment order. */
  readonly paths: readonly string[]
  /** See `SegmentPlace`. */
  readonly isGuessed: boolean
}

/**
 * Paths of all segments of a segment's recording: files in the same folder with its name and its session.
 * Only the given path, when it is no tape or does not declare itself a part of a recording.
 */
export async function wholeRecording(path: string): Promise<Whole> {
  const own = await placeOf(path)
  const alone = { paths: [path], isGuessed: false }
  if (own?.session === undefined) return alone
  if (own.isGuessed) return wholeByName(path)
  const stem = stemOf(basename(path), own.segment)
  if (stem === undefined) return alone
  const folder = dirname(path)
  const bySegment = new Map([[own.segment, path]])
  for (const name of await readdir(folder).catch(() => [])) {
    const segment = segmentIn(name, stem)
    if (segment === undefined || bySegment.has(segment)) continue
    const other = await placeOf(join(folder, name))
    if (other?.session === own.session && other.segment === segment)
      bySegment.set(segment, join(folder, name))
  }
  const paths = [...bySegment].toSorted(([a], [b]) => a - b).map(([, found]) => found)
  return { paths, isGuessed: false }
}

async function wholeByName(path: string): Promise<Whole> {
  const folder = dirname(path)
  const stem = basename(path).replace(/(?:\.\d+)?\.jsonl(?:\.\d+)?$/, '')
  const tapes: { path: string; place: SegmentPlace }[] = []
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.startsWith(stem) || !/^(?:\.\d+)?\.jsonl(?:\.\d+)?$/.test(name.slice(stem.length))) continue
    const place = await placeOf(join(folder, name))
    if (place) tapes.push({ path: join(folder, name), place })
  }
  const groups = joinSegments(tapes, ({ place }) => place)
  const group = groups.find((one) => one.some((tape) => tape.path === path)) ?? []
  return { paths: group.length > 0 ? group.map((tape) => tape.path) : [path], isGuessed: group.length > 1 }
}

async function placeOf(path: string): Promise<SegmentPlace | undefined> {
  return (await summarizeTape(path).catch(() => undefined))?.place
}

/** Common start of the names of all segments; undefined for a renamed tape. */
function stemOf(name: string, segment: number): string | undefined {
  const ending = segment === 0 ? '.jsonl' : `.${segment}.jsonl`
  if (name.endsWith(ending)) return name.slice(0, -ending.length)
  return segment === 0 ? name : undefined
}

/** The reverse of `segmentPath`. */
function segmentIn(name: string, stem: string): number | undefined {
  if (!name.startsWith(stem)) return undefined
  const rest = name.slice(stem.length)
  if (rest === '' || rest === '.jsonl') return 0
  const numbered = /^\.([1-9]\d{0,8})\.jsonl$/.exec(rest)
  return numbered ? Number(numbered[1]) : undefined
}
