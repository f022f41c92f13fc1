import type { Draft } from '../../model/index.js'
import type { Input } from '../format.js'
import type { Discovery } from './discovery.js'
import { isUnderstood, readTranscriptMessage, type TranscriptMessage } from './message.js'
import type { Stamp } from './meaning.js'
import type { Profile } from './profile.js'
import { refused, type Refusal, type SourceItem, type TranscriptSource } from './source.js'

/** Facts about a transcript that are needed before the first event is written. */
export interface Survey {
  /** Number of messages. */
  readonly count: number
  readonly first: Stamp | undefined
  readonly last: Stamp | undefined
  readonly discovery: Discovery
  /** Messages are in timestamp order, those without a timestamp first. */
  readonly isSorted: boolean
  /** Counts of items that are no messages. */
  readonly passedOver: ReadonlyMap<string, number>
}

/** Takes the items of a transcript, in file order. */
export interface Surveyor {
  /** The messages of an item; empty when it has none. */
  take(item: SourceItem): readonly TranscriptMessage[]
  /** Facts so far. */
  readonly survey: Survey
  /** A message breaks a rule: `now`, or `later`, when nothing else in the file does. */
  readonly isRefused: 'no' | 'now' | 'later'
  /**
   * @param isKnown the file is certainly a transcript: nothing in it needs to be understood
   * @throws WiretapeError with the reason why the file is refused
   */
  finish(isKnown?: boolean): Survey
}

export function createSurveyor(profile: Profile, note: (message: string) => void): Surveyor {
  const requests = profile === 'strict' ? outstandingRequests() : oneCallPerId()
  const discovery = { resourceMetadata: false, scope: false }
  const passedOver = new Map<string, number>()
  const found: Draft<Survey> = {
    count: 0,
    first: undefined,
    last: undefined,
    discovery,
    isSorted: true,
    passedOver,
  }
  let before: Stamp = 0
  let items = 0
  let understood = 0
  /** A fault of the whole document takes precedence over this one. */
  let refusal: Refusal | undefined
  let duplicateRefusal: string | undefined
  let firstProblem: string | undefined

  function look(message: TranscriptMessage, number: number): void {
    found.count += 1
    const { stamp } = message
    if (stamp !== undefined) {
      if (found.first === undefined || stamp < found.first) found.first = stamp
      if (found.last === undefined || stamp > found.last) found.last = stamp
    }
    if ((stamp ?? 0) < before) found.isSorted = false
    before = stamp ?? 0
    duplicateRefusal ??= requests(message, number)
  }

  function take(item: SourceItem): TranscriptMessage[] {
    items += 1
    refusal ??= item.refusal
    if (item.passedOver) {
      const { what, isKnown, problem } = item.passedOver
      passedOver.set(what, (passedOver.get(what) ?? 0) + 1)
      if (problem !== undefined) {
        const named = `entry ${item.number}: ${problem}`
        firstProblem ??= named
        note(named)
      }
      if (isKnown) understood += 1
    }
    const messages: TranscriptMessage[] = []
    for (const said of item.messages) {
      const message = readTranscriptMessage(said, item.number, profile)
      if ('refusal' in message) refusal ??= message.refusal
      else {
        look(message, item.number)
        messages.push(message)
        if (message.meaning !== 'none' || isUnderstood(said.text)) understood += 1
      }
    }
    if (item.discovery) {
      understood += 1
      discovery.resourceMetadata ||= item.discovery.resourceMetadata
      discovery.scope ||= item.discovery.scope
    }
    return messages
  }

  function finish(isKnown = false): Survey {
    refusal ??= duplicateRefusal
    if (refusal !== undefined) throw refused(refusal)
    if (items > 0 && understood === 0 && !isKnown) {
      const which = items === 1 ? 'its only entry is not an' : `none of its ${items} entries is an`
      const why = firstProblem === undefined ? '' : ` (${firstProblem})`
      throw refused(`${which} MCP message${why}`)
    }
    return found
  }

  return {
    take,
    survey: found,
    get isRefused() {
      return refusal !== undefined ? 'now' : duplicateRefusal !== undefined ? 'later' : 'no'
    },
    finish,
  }
}

/**
 * Reads a whole transcript and checks it against all rules.
 *
 * @param note receives oddities that are no reason to refuse the file
 * @param isKnown see `Surveyor.finish`
 * @throws WiretapeError with the reason why the file is refused
 */
export async function survey(
  source: TranscriptSource,
  input: Input,
  profile: Profile,
  note: (message: string) => void,
  isKnown = false,
): Promise<Survey> {
  const surveyor = createSurveyor(profile, note)
  for await (const item of source.items(input.bytes(), { checked: false, note })) {
    surveyor.take(item)
    if (surveyor.isRefused === 'now' && !source.isWhole) break
  }
  return surveyor.finish(isKnown || source.isEnveloped || profile === 'strict')
}

/** A check on single messages. Returns the reason why the file is refused. */
type RequestRule = (message: TranscriptMessage, number: number) => string | undefined

/** Every id belongs to at most one call. */
function oneCallPerId(): RequestRule {
  const calls = createIdSet()
  return ({ meaning, id }, number) => {
    if (meaning !== 'call' || id === undefined || !calls.add(id)) return undefined
    return `duplicate tools/call request id ${JSON.stringify(id)} at source line ${number}`
  }
}

/** Every id belongs to at most one open request of either side; a response frees it. */
function outstandingRequests(): RequestRule {
  const open = new Set<string>()
  return ({ meaning, key }, number) => {
    if (key === undefined || meaning === 'notification' || meaning === 'none') return undefined
    if (meaning === 'tools' || meaning === 'result' || meaning === 'error') open.delete(key)
    else if (open.has(key)) return `two outstanding JSON-RPC requests share an id at source line ${number}`
    else open.add(key)
    return undefined
  }
}

/** A set of ids, optimized for small numbers, the most common ids. */
function createIdSet(): { add(id: string): boolean } {
  const texts = new Set<string>()
  const numbers = new Set<number>()
  return {
    /** True when the id was already present. */
    add(id) {
      const isNumber = /^(?:0|[1-9]\d{0,8})$/.test(id)
      const before = texts.size + numbers.size
      if (isNumber) numbers.add(Number(id))
      else texts.add(id)
      return texts.size + numbers.size === before
    },
  }
}
