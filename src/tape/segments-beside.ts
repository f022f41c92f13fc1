import { readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { summarizeTape, type TapeSummary } from './summary.js'

/** Paths of the other segments of the recording that a tape is a segment of, as `wholeRecording` finds them. */
export async function segmentsBeside(path: string): Promise<string[]> {
  return (await wholeRecording(path)).filter((segment) => segment !== path)
}

/**
 * Paths of all segments of the recording that a tape is a segment of, in their order: those beside it that have its name
 * and its session. It alone, when it is no tape, or does not say which session it is of.
 */
export async function wholeRecording(path: string): Promise<string[]> {
  const own = await identityOf(path)
  const stem = own && stemOf(basename(path), own.segment)
  if (!own || stem === undefined) return [path]
  const folder = dirname(path)
  const bySegment = new Map([[own.segment, path]])
  for (const name of await readdir(folder).catch(() => [])) {
    const segment = segmentIn(name, stem)
    if (segment === undefined || bySegment.has(segment)) continue
    const other = await identityOf(join(folder, name))
    if (other?.session === own.session && other.segment === segment)
      bySegment.set(segment, join(folder, name))
  }
  return [...bySegment].toSorted(([a], [b]) => a - b).map(([, found]) => found)
}

async function identityOf(path: string): Promise<TapeSummary['meta']['wiretape']> {
  return (await summarizeTape(path).catch(() => undefined))?.meta.wiretape
}

/** What the names of all segments begin with; undefined for a tape that was given another name. */
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
