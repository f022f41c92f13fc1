import type { JsonMembers } from '../../model/index.js'
import { elementsOf, JsonObject, kindAt } from '../../wire/index.js'
import { isDemanding, isWellFormed } from './demanding.js'
import type { Members } from './members.js'
import { isId } from './representable.js'
import { commandOf } from './server-command.js'
import { parseMicros, parseMoment } from './time.js'

/**
 * Member of a tape's line with what only a session file has: unknown members, and texts that we would write
 * otherwise. Of a batch it is an array, with an object for each of its entries.
 */
export const keptName = 'session'

/** What a session file had beside what we would write. @param entry of a batch, the number of its entry */
export function keptOf(extra: JsonMembers | undefined, entry?: number): JsonMembers {
  const text = extra?.findLast(([name]) => name === keptName)?.[1]
  if (text === undefined) return []
  if (entry === undefined) return kindAt(text, 0) === 'object' ? new JsonObject(text, 0).others() : []
  const element = kindAt(text, 0) === 'array' ? elementsOf(text, 0, entry + 1)[entry] : undefined
  return element && kindAt(text, element.start) === 'object'
    ? new JsonObject(text, element.start).others()
    : []
}

/** Of what stands in a file, what the members that we would write do not say. */
export function differing(inFile: Iterable<readonly [string, string]>, ours: Members): JsonMembers {
  return [...inFile].filter(([name, json]) => ours.get(name) !== json)
}

/**
 * Adds what a session file had to what we write about one message. What says something else than the record,
 * or would make the file unreadable for others, is left out; it stays in `metadata.wiretape`.
 */
export function withKeptMembers(ours: Members, kept: JsonMembers): Members {
  return adopting(ours, kept, entryRules, ['payload', 'original_payload'])
}

/** The same for the session as a whole. Unknown members are added to `others`. */
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
/** A tape has milliseconds, and a session file mostly microseconds. */
const sameMillisecond: Rule = (json, ours) => {
  const micros = parseMoment(json)
  const written = parseMoment(ours)
  if (micros === undefined || written === undefined) return false
  return micros === written || Math.floor(micros / 1000) * 1000 === written
}
const isTransport: Rule = (json) => ['"stdio"', '"sse"', '"streamable-http"'].includes(json)
const isTextOrNull: Rule = (json) => json === 'null' || json.startsWith('"')

/** The id and method of a session file need not be those of its payload (an edit does not change them). */
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
