import { createRecent, detach } from '../model/index.js'

/** Pairs of corresponding values in two runs: one to one, across all responses. */
export interface Links {
  /** False if either value is linked to another one. */
  fits(before: string, after: string): boolean
  isKnown(before: string, after: string): boolean
  /** The new value for a value of the old run. */
  of(before: string): string | undefined
  add(before: string, after: string): void
}

const mostLinks = 20_000

export function createLinks(): Links {
  const forth = createRecent<string>({ entries: mostLinks })
  const back = createRecent<string>({ entries: mostLinks })
  return {
    fits: (before, after) => (forth.get(before) ?? after) === after && (back.get(after) ?? before) === before,
    of: (before) => forth.get(before),
    isKnown: (before, after) => forth.get(before) === after,
    add(before, after) {
      forth.set(detach(before), detach(after))
      back.set(detach(after), detach(before))
    },
  }
}

/** Member names, and words before a value, that mark the value as an identifier. */
const idLike =
  /(?:^|[^a-z])(?:id|ids|p?pid|port|uid|guid|uuid|key|token|handle|session|cursor|nonce|request|trace|execution|terminal|job|task|run|ref|slug)s?$/i
/** Such a value is derived from content: a different value means different content. */
const digestLike = /hash|digest|checksum|etag|fingerprint|signature|md5|sha-?\d|crc/i

/** Whether the last word of a name marks an id: `taskId`, `task_id` and `TASK-ID` end in `id`. */
export function isIdName(name: string): boolean {
  return idLike.test(name.replaceAll(/([a-z\d])([A-Z])/g, '$1 $2').trim()) && !digestLike.test(name)
}

/** Whether the text before a value marks an id: `Created task: `, `(id=`, `row #`. */
export function endsInIdName(text: string): boolean {
  const end = text.slice(-40)
  if (digestLike.test(end)) return false
  return end.endsWith('#') || isIdName(end.replace(/[\s"'*`:=([#]+$/, ''))
}

/**
 * Whether two values are generated ids: of one form, and random after their common prefix.
 *
 * @param isNamed whether the context marks the value as an id
 */
export function areMadeIds(before: string, after: string, isNamed: boolean): boolean {
  if (!/^[\w.-]{4,128}$/.test(before) || !/^[\w.-]{4,128}$/.test(after)) return false
  const [label = ''] = /^(?:[A-Za-z]*[_-])+/.exec(before) ?? []
  if (!after.startsWith(label) || (label === '' && !isNamed)) return false
  const [old, now] = [before.slice(label.length), after.slice(label.length)]
  if (Math.abs(old.length - now.length) > 4 || Math.min(old.length, now.length) < 5) return false
  const [a, b] = [changesIn(old), changesIn(now)]
  // One of two random words may consist of letters only.
  return Math.min(a, b) >= 1 || (Math.max(a, b) >= 2 && Math.abs(old.length - now.length) <= 1)
}

/** The number of changes between digits and letters, in the part of a word with the most. */
function changesIn(text: string): number {
  const parts = text.split(/[_.-]/).filter((part) => part.length >= 5)
  return Math.max(0, ...parts.map((part) => part.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g)?.length ?? 0))
}

/** Whether two file or folder names come from `mkdtemp` or similar: `work-aB3x9Q` and `work-Zk81pO`. */
export function areMadeNames(before: string, after: string): boolean {
  const [old, now] = [before.split(/([-_.])/), after.split(/([-_.])/)]
  if (old.length !== now.length) return false
  const isMade = (part: string): boolean => part.length >= 4 && /\d|[A-Za-z][A-Z]/.test(part)
  const pairs = old.flatMap((part, i) => (part === now[i] ? [] : [[part, now[i]!] as const]))
  // Next to a part that is random on both sides, another may have lower-case letters only on one.
  return (
    pairs.some((pair) => pair.every(isMade)) &&
    pairs.every((pair) => pair.some(isMade) && Math.abs(pair[0].length - pair[1].length) <= 1)
  )
}
