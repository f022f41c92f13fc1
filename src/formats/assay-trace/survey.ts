import type { Draft } from '../../model/index.js'
import type { Input } from '../format.js'
import type { Discovery } from './discovery.js'
import { readTranscriptMessage, type TranscriptMessage } from './message.js'
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
export class Surveyor {
  readonly #profile: Profile
  readonly #note: (message: string) => void
  readonly #requests: RequestRule
  readonly #discovery = { resourceMetadata: false, scope: false }
  readonly #passedOver = new Map<string, number>()
  readonly #found: Draft<Survey> = {
    count: 0,
    first: undefined,
    last: undefined,
    discovery: this.#discovery,
    isSorted: true,
    passedOver: this.#passedOver,
  }
  #before: Stamp = 0
  #items = 0
  #understood = 0
  /** A fault of the whole document takes precedence over this one. */
  #refusal: Refusal | undefined
  #duplicateRefusal: string | undefined
  #firstProblem: string | undefined
  /** Facts so far. */
  readonly survey: Survey = this.#found

  constructor(profile: Profile, note: (message: string) => void) {
    this.#profile = profile
    this.#note = note
    this.#requests = profile === 'strict' ? outstandingRequests() : oneCallPerId()
  }

  /** The messages of an item; empty when it has none. */
  take(item: SourceItem): TranscriptMessage[] {
    this.#items += 1
    this.#refusal ??= item.refusal
    if (item.passedOver) {
      const { what, isKnown, problem } = item.passedOver
      this.#passedOver.set(what, (this.#passedOver.get(what) ?? 0) + 1)
      if (problem !== undefined) {
        const named = `entry ${item.number}: ${problem}`
        this.#firstProblem ??= named
        this.#note(named)
      }
      if (isKnown) this.#understood += 1
    }
    const messages: TranscriptMessage[] = []
    for (const said of item.messages) {
      const message = readTranscriptMessage(said, item.number, this.#profile)
      if ('refusal' in message) this.#refusal ??= message.refusal
      else {
        this.#look(message, item.number)
        messages.push(message)
      }
    }
    if (item.discovery) {
      this.#understood += 1
      this.#discovery.resourceMetadata ||= item.discovery.resourceMetadata
      this.#discovery.scope ||= item.discovery.scope
    }
    return messages
  }

  /** As `take`, for an item of one message that was read already. */
  takeRead(message: TranscriptMessage, number: number): void {
    this.#items += 1
    this.#look(message, number)
  }

  /**
   * @param isKnown the file is certainly a transcript: nothing in it needs to be understood
   * @throws WiretapeError with the reason why the file is refused
   */
  finish(isKnown = false): Survey {
    this.#refusal ??= this.#duplicateRefusal
    if (this.#refusal !== undefined) throw refused(this.#refusal)
    if (this.#items > 0 && this.#understood === 0 && !isKnown) {
      const which =
        this.#items === 1 ? 'its only entry is not an' : `none of its ${this.#items} entries is an`
      const why = this.#firstProblem === undefined ? '' : ` (${this.#firstProblem})`
      throw refused(`${which} MCP message${why}`)
    }
    return this.#found
  }

  /** A message breaks a rule: `now`, or `later`, when nothing else in the file does. */
  get isRefused(): 'no' | 'now' | 'later' {
    return this.#refusal !== undefined ? 'now' : this.#duplicateRefusal !== undefined ? 'later' : 'no'
  }

  #look(message: TranscriptMessage, number: number): void {
    this.#found.count += 1
    if (message.isUnderstood) this.#understood += 1
    const { stamp } = message
    if (stamp !== undefined) {
      if (this.#found.first === undefined || stamp < this.#found.first) this.#found.first = stamp
      if (this.#found.last === undefined || stamp > this.#found.last) this.#found.last = stamp
    }
    if ((stamp ?? 0) < this.#before) this.#found.isSorted = false
    this.#before = stamp ?? 0
    this.#duplicateRefusal ??= this.#requests(message, number)
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
  const surveyor = new Surveyor(profile, note)
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
