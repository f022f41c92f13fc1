import { tellsOffers, type Offers, type OfferVersions } from '../../src/compare/index.js'
import { decodeLine } from '../../src/formats/index.js'
import { isErrorAnswer, isUnanswered } from '../../src/model/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { comparing } from '../patterns/loaded.js'
import type { LaneIndex } from './lane.js'

/** Usage of one tool, prompt, resource or plain method. */
export interface Usage {
  readonly lane: number
  readonly fromServer: boolean
  readonly method: string
  readonly subject: string
  readonly calls: number
  readonly errors: number
  /** Requests without a response and without an explanation for that. */
  readonly unanswered: number
  /** Cancelled requests without a response. */
  readonly cancelled: number
  /** Microseconds; absent without responses. */
  readonly p50Us?: number
  readonly p95Us?: number
  readonly maxUs?: number
  /** Total of requests and responses. */
  readonly sizeBytes: number
  /** Row of the slowest call. */
  readonly slowest: number
}

/** One definition that a server offered. */
export interface Offered {
  readonly kind: string
  readonly name: string
  readonly title: string
  readonly description: string
  /** Names of its annotations that are true, such as `readOnlyHint`. */
  readonly hints: readonly string[]
  /** Exact text of the definition. */
  readonly text: string
}

/** A change of a server's definitions, without texts that are too long. */
export interface OfferStep extends OfferVersions {
  readonly row: number
  readonly at: number
  /** The lane of the earlier definition, if that is another recording of the server. */
  readonly since?: number
}

/** A server's last definitions, and their changes. */
export interface OfferHistory {
  readonly lane: number
  readonly offered: readonly Offered[]
  readonly changes: readonly OfferStep[]
}

/** Maximum number of groups; a server with many resource URIs exceeds it. */
const mostGroups = 5_000
/** Maximum number of list results read one by one. */
const mostListings = 500

/** The part of a lane that the page shows. */
export interface Shown {
  /** Whether the filter and the time range show an exchange: one of its messages matches, and it overlaps the range. */
  exchange(request: number): boolean
  /** The same for a single row. */
  row(row: number): boolean
}

/** @param range microseconds since 1970 */
export function shownIn(
  lane: LaneIndex,
  matches: (row: number) => boolean,
  [from, to]: readonly [number, number] = [-Infinity, Infinity],
): Shown {
  const { entries } = lane.fold
  return {
    exchange(request) {
      const answer = entries.peer(request)
      if (lane.at(request) > to || lane.at(answer < 0 ? request : answer) < from) return false
      return matches(lane.globalOf(request)) || (answer >= 0 && matches(lane.globalOf(answer)))
    },
    row: (row) => lane.at(row) >= from && lane.at(row) <= to && matches(lane.globalOf(row)),
  }
}

/** Usage in one lane. */
export interface LaneUsage {
  readonly groups: readonly Usage[]
  /** Error responses outside of the groups: without a request, or beyond the limit of groups. */
  readonly otherErrors: number
}

/** Number of the word for what a request is about. Every task has its own id, so that tasks are not told apart. */
function subjectOf(lane: LaneIndex, request: number): number {
  return lane.word(lane.method(request)).startsWith('tasks/') ? 0 : lane.subject(request)
}

class Group {
  calls = 0
  errors = 0
  sizeBytes = 0
  slowest: number
  slowestUs = -1
  unanswered = 0
  cancelled = 0
  readonly method: number
  readonly subject: number
  readonly fromServer: boolean
  readonly latencies: number[] = []
  constructor(lane: LaneIndex, request: number) {
    this.slowest = request
    this.method = lane.method(request)
    this.subject = subjectOf(lane, request)
    this.fromServer = lane.fold.entries.has(request, 'fromServer')
  }
}

/** Calls, errors, latencies and bytes of one lane, by method and subject. */
export function usageOf(lane: LaneIndex, shown: Shown): LaneUsage {
  const groups = new Map<string, Group>()
  const { entries } = lane.fold
  let otherErrors = 0

  function groupOf(request: number): Group | undefined {
    const fromServer = entries.has(request, 'fromServer')
    const key = `${lane.method(request)} ${subjectOf(lane, request)} ${fromServer}`
    let group = groups.get(key)
    if (!group && groups.size < mostGroups) {
      group = new Group(lane, request)
      groups.set(key, group)
    }
    return group
  }

  function takeError(row: number): void {
    const request = entries.peer(row)
    if (request < 0 ? !shown.row(row) : !shown.exchange(request)) return
    const group = request < 0 ? undefined : groupOf(request)
    if (group) group.errors += 1
    else otherErrors += 1
  }

  for (let row = 0; row < entries.length; row += 1) {
    if (isErrorAnswer(entries, row)) takeError(row)
    if (entries.kind(row) !== 'request' || !shown.exchange(row)) continue
    const group = groupOf(row)
    if (!group) continue
    const answer = entries.peer(row)
    group.calls += 1
    group.sizeBytes += entries.size(row)
    if (isUnanswered(entries, row)) group.unanswered += 1
    if (entries.has(answer < 0 ? row : answer, answer < 0 ? 'cancelled' : 'taskCancelled'))
      group.cancelled += 1
    if (answer < 0) continue
    group.sizeBytes += entries.size(answer)
    const latency = entries.latencyUs(answer)
    if (latency === undefined) continue
    if (latency > group.slowestUs) {
      group.slowest = row
      group.slowestUs = latency
    }
    group.latencies.push(latency)
  }
  return { groups: [...groups.values()].map((group) => usageIn(lane, group)), otherErrors }
}

function usageIn(lane: LaneIndex, group: Group): Usage {
  const sorted = Float64Array.from(group.latencies).sort()
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]!
  return {
    lane: lane.index,
    fromServer: group.fromServer,
    method: lane.word(group.method),
    subject: lane.word(group.subject),
    calls: group.calls,
    errors: group.errors,
    unanswered: group.unanswered,
    cancelled: group.cancelled,
    ...(sorted.length > 0 && { p50Us: at(0.5), p95Us: at(0.95), maxUs: at(1) }),
    sizeBytes: group.sizeBytes,
    slowest: lane.globalOf(group.slowest),
  }
}

/**
 * Definitions that servers listed, by lane. Each listing is compared with the previous one of that server, also in an
 * earlier recording.
 */
export async function offersOf(lanes: readonly LaneIndex[]): Promise<OfferHistory[]> {
  const servers = new Map<string, Listed>()
  const histories = new Map<LaneIndex, OfferHistory>()
  const startOf = (lane: LaneIndex): number => (lane.length === 0 ? Infinity : lane.at(0))
  for (const lane of lanes.toSorted((a, b) => startOf(a) - startOf(b))) {
    const [session] = lane.fold.sessions
    const server = session?.server?.name ?? session?.label ?? `${lane.index}`
    const listed = servers.get(server) ?? { offers: comparing().createOffers(), lanes: new Map() }
    servers.set(server, listed)
    histories.set(lane, await laneOffersOf(lane, listed))
  }
  return lanes.map((lane) => histories.get(lane)!)
}

/** Definitions of a server so far, and the lane of the latest listing by each method. */
interface Listed {
  readonly offers: Offers
  readonly lanes: Map<string, number>
}

async function laneOffersOf(lane: LaneIndex, before: Listed): Promise<OfferHistory> {
  const { entries } = lane.fold
  const { compareOfferVersions, createOffers } = comparing()
  const offers = createOffers()
  const changes: OfferStep[] = []
  let listings = 0
  let pages: { method: string; text: string; goesOn: boolean }[] = []
  for (let row = 0; row < entries.length && listings < mostListings; row += 1) {
    if (entries.kind(row) !== 'result') continue
    const request = entries.peer(row)
    const method = request < 0 ? '' : lane.word(lane.method(request))
    if (!tellsOffers(method)) continue
    listings += 1
    const text = await textAt(lane, row)
    const asked = await textAt(lane, request)
    if (text === undefined) continue
    const page = { method, text, goesOn: asked !== undefined && /"cursor"\s*:/.test(asked) }
    pages.push(page)
    offers.take(page.method, page.text, page.goesOn)
    // A list is complete with its last page.
    if (/"nextCursor"\s*:\s*"/.test(text)) continue
    const since = before.lanes.get(method)
    if (since !== undefined) {
      const place = { row: lane.globalOf(row), at: lane.at(row), ...(since !== lane.index && { since }) }
      for (const found of compareOfferVersions(before.offers, offers))
        changes.push({ ...place, ...withoutLongTexts(found) })
    }
    before.lanes.set(method, lane.index)
    for (const one of pages) before.offers.take(one.method, one.text, one.goesOn)
    pages = []
  }
  return { lane: lane.index, offered: offeredBy(offers), changes }
}

const longestVersion = 200_000

export function withoutLongTexts({ change, ...texts }: OfferVersions): OfferVersions {
  const { before = '', after = '' } = texts
  return Math.max(before.length, after.length) > longestVersion ? { change } : { change, ...texts }
}

function offeredBy(offers: Offers): Offered[] {
  const all: Offered[] = []
  for (const kind of ['tool', 'prompt', 'resource', 'template'] as const) {
    for (const [name, text] of offers.list(kind) ?? []) {
      const object = new JsonObject(text, 0)
      const annotations = object.object('annotations')
      const hints = (annotations?.others() ?? []).flatMap(([hint, value]) => (value === 'true' ? [hint] : []))
      all.push({
        kind,
        name,
        title: object.string('title') ?? annotations?.string('title') ?? '',
        description: object.string('description') ?? '',
        hints,
        text,
      })
    }
  }
  return all
}

async function textAt(lane: LaneIndex, row: number): Promise<string | undefined> {
  const { offset, sizeBytes, part } = lane.placeOf(row)
  const line = decodeLine(new TextDecoder().decode(await lane.source.slice(offset, sizeBytes)))
  if (!('record' in line) || line.record.type !== 'message') return undefined
  const { raw, parts } = line.record
  const found = parts[part]
  return found && raw.slice(found.start, found.end)
}
