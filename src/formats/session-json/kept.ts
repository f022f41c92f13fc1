import type { JsonMembers } from '../../model/index.js'
import { elementsOf, JsonObject, kindAt } from '../../wire/index.js'
import { isDemanding, isWellFormed } from './demanding.js'
import type { Members } from './members.js'
import { isId } from './representable.js'
import { commandOf } from './server-command.js'
import { parseMicros, parseMoment } from './time.js'

/**
 * Member of a tape's line with data of a session file only: unknown members, and texts in another form than
 * wiretape's. For a batch it is an array with an object per entry.
 */
export const keptName = 'session'

/** Data of a session file that wiretape would not write. @param entry of a batch, the number of its entry */
export function keptOf(extra: JsonMembers | undefined, entry?: number): JsonMembers {
  const text = extra?.findLast(([name]) => name === keptName)?.[1]
  if (text === undefined) return []
  if (entry === undefined) return kindAt(text, 0) === 'object' ? new JsonObject(text, 0).others() : []
  const element = kindAt(text, 0) === 'array' ? elementsOf(text, 0, entry + 1)[entry] : undefined
  return element && kindAt(text, element.start) === 'object'
    ? new JsonObject(text, element.start).others()
    : []
}

/** The members in a file that differ from those that wiretape would write. */
export function differing(inFile: Iterable<readonly [string, string]>, ours: Members): JsonMembers {
  return [...inFile].filter(([name, json]) => ours.get(name) !== json)
}

/**
 * Adds the members of a session file to those that wiretape writes about one message. Members that contradict
 * the record, or would make the file unreadable for others, are omitted; they stay in `metadata.wiretape`.
 */
export function withKeptMembers(ours: Members, kept: JsonMembers): Members {
  return adopting(ours, kept, entryRules, ['payload', 'original_payload'])
}

/** As `withKeptMembers`, for the session as a whole. Unknown members are added to `others`. */
export function withKeptHead(ours: Members, kept: JsonMembers): Members {
  return adopting(ours, kept, headRules, ['messages', 'metadata'])
}

type Rule = (json: string, ours: string) => boolean

function adopting(
  ours: Members,
  kept: JsonMembers,
  rules: ReadonlyMap<string, Rule>,
  never: readonly string[],
): Members {
  const known = new Map(ours)
  for (const [name, json] of kept) {
    if (never.includes(name) || !isWellFormed(name) || isDemanding(json)) continue
    const before = known.get(name)
    if (before === undefined) ours.add(name, json)
    else if (rules.get(name)?.(json, before)) ours.add(name, json)
  }
  return ours
}

const sameText: Rule = (json, ours) => json.startsWith('"') && JSON.parse(json) === JSON.parse(ours)
const sameTime =
  (parse: (json: string) => number | undefined): Rule =>
  (json, ours) => {
    const micros = parse(json)
    return micros !== undefined && micros === parse(ours)
  }
/** Tapes have milliseconds, session files usually microseconds. */
const sameMillisecond: Rule = (json, ours) => {
  const micros = parseMoment(json)
  const written = parseMoment(ours)
  if (micros === undefined || written === undefined) return false
  return micros === written || Math.floor(micros / 1000) * 1000 === written
}
const isTransport: Rule = (json) => ['"stdio"', '"sse"', '"streamable-http"'].includes(json)
const isTextOrNull: Rule = (json) => json === 'null' || json.startsWith('"')

/** In a session file, id and method may differ from those of the payload (an edit keeps them). */
const entryRules: ReadonlyMap<string, Rule> = new Map([
  ['proxy_id', sameText],
  [
    'timestamp',
    sameTime((json) => (json.startsWith('"') ? parseMicros(JSON.parse(json) as string) : undefined)),
  ],
  ['transport', isTransport],
  ['jsonrpc_id', (json) => json === 'null' || isId(json)],
  ['method', isTextOrNull],
  ['correlated_id', sameText],
])

const headRules: ReadonlyMap<string, Rule> = new Map([
  ['id', sameText],
  ['started_at', sameMillisecond],
  ['ended_at', sameMillisecond],
  ['server_url', sameText],
  [
    'server_command',
    (json, ours) =>
      json.startsWith('"') &&
      JSON.stringify(commandOf(JSON.parse(json) as string)) ===
        JSON.stringify(commandOf(JSON.parse(ours) as string | null)),
  ],
])
