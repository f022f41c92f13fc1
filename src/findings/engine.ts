import {
  isFrameRecord,
  createIntColumn,
  setRow,
  type HeldRecord,
  type MessageRecord,
  type Part,
  type TapeRecord,
} from '../model/index.js'
import type { Facts, Fault, Finding, Rule, Watch } from './finding.js'
import { Asked, Message } from './message.js'
import { ServerState } from './server-state.js'

/** Ring buffer of the latest requests, by row. */
class AskedRing {
  readonly #slots: (Asked | undefined)[] = []
  #chars = 0

  get(row: number): Asked | undefined {
    const found = this.#slots[row % mostAsked]
    return found?.row === row ? found : undefined
  }

  /** @param isAskedFor whether a rule on the response needs its parameters; kept while there is room */
  set(message: Message, isAskedFor: boolean): void {
    const slot = message.row % mostAsked
    this.#chars -= this.#slots[slot]?.size ?? 0
    const asked = new Asked(message, isAskedFor && this.#chars < mostAskedChars)
    this.#chars += asked.size
    this.#slots[slot] = asked
  }
}

const mostAsked = 32_768
const mostAskedChars = 16 << 20

/** Takes the records of one recording in order, with the rows that the fold made from each. */
export interface RecordingFindings {
  take(record: TapeRecord, rows: { readonly first: number; readonly count: number }): void
  /** Call once, after the last record. */
  finish(): void
  readonly found: readonly Finding[]
  /** Findings omitted because of a limit. */
  readonly left: number
}

const mostFindings = 10_000
/**
 * Applies rules to the recordings of one run: some rules compare recordings.
 *
 * @param rules the selected rules
 * @param mostAlike limit of findings kept per rule and fingerprint; the rest are counted
 */
export function createFindings(
  rules: readonly Rule[],
  mostAlike = 100,
): {
  /** @param onFound receives each finding, even above the limits; places in the recording are then not kept */
  begin(fold: Facts, onFound?: (finding: Finding) => void): RecordingFindings
} {
  const run = new Map<string, unknown>()
  return { begin: (fold, onFound) => new Findings(rules, mostAlike, fold, run, onFound) }
}

class Findings implements RecordingFindings {
  readonly found: Finding[] = []
  left = 0
  readonly #rules: readonly Rule[]
  readonly #mostAlike: number
  readonly #fold: Facts
  readonly #onFound: ((finding: Finding) => void) | undefined
  readonly #run: Map<string, unknown>
  readonly #alike = new Map<string, number>()
  /** Requests by their rows. */
  readonly #asked = new AskedRing()
  #watches: readonly Watch[] = []
  #server: ServerState | undefined
  /** Record number of each row. */
  readonly #records = createIntColumn()
  #record = -1

  constructor(
    rules: readonly Rule[],
    mostAlike: number,
    fold: Facts,
    run: Map<string, unknown>,
    onFound: ((finding: Finding) => void) | undefined,
  ) {
    this.#onFound = onFound
    this.#rules = rules
    this.#mostAlike = mostAlike
    this.#fold = fold
    this.#run = run
  }

  take(record: TapeRecord, { first, count }: { readonly first: number; readonly count: number }): void {
    this.#record += 1
    if (!this.#onFound)
      for (let row = first; row < first + count; row += 1) setRow(this.#records, row, this.#record)
    if (record.type === 'meta' || !this.#server) this.#begin()
    if (isFrameRecord(record)) {
      // A held message is checked once it is forwarded; a dropped one never crossed the wire.
      if (record.type === 'message') record.parts.forEach((part, i) => this.#message(record, part, first + i))
      return
    }
    if (record.type === 'note' && record.restart) this.#server?.restarted()
    for (const watch of this.#watches) watch.record?.(record, count > 0 ? first : -1)
  }

  finish(): void {
    for (const watch of this.#watches) watch.end?.()
  }

  /** A segment continues the state of the previous one. */
  #begin(): void {
    const session = this.#fold.sessions.at(-1)
    const isNext = this.#server !== undefined && (session?.segments.length ?? 1) > 1
    if (isNext) return
    this.finish()
    const server = new ServerState(session?.transport ?? 'stdio', session?.label)
    this.#server = server
    this.#watches = this.#rules.map((rule) =>
      rule.begin({ server, run: this.#run, fold: this.#fold }, (where, fault) =>
        this.#say(rule, where, fault),
      ),
    )
  }

  #message(record: MessageRecord | HeldRecord, part: Part, row: number): void {
    const { entries } = this.#fold
    const peer = entries.peer(row)
    const message = new Message(record, part, {
      row,
      seq: entries.seq(row),
      asked: peer >= 0 && peer !== row ? this.#asked.get(peer) : undefined,
    })
    for (const watch of this.#watches) watch.message?.(message)
    this.#server!.learn(message)
    if (part.envelope.kind === 'request') this.#asked.set(message, this.#isAskedFor(message))
  }

  /** Rules on responses validate arguments against the tool's schema, and a form against its request. */
  #isAskedFor({ method, tool }: Message): boolean {
    if (method === 'elicitation/create') return true
    return tool !== undefined && this.#server!.offer('tool', tool) !== undefined
  }

  #say(rule: Rule, where: Message | number | undefined, fault: Fault): void {
    const server = this.#server?.name
    const row = where instanceof Message ? where.row : where
    const tool = fault.tool ?? (where instanceof Message ? where.tool : undefined)
    const place = fault.what ?? fault.at?.replaceAll(/\/\d+(?=\/|$)/g, '/*') ?? ''
    const fingerprint = [rule.info.id, server ?? '', tool ?? '', place].join('\u0000')
    const finding: Finding = {
      rule: rule.info,
      level: fault.level ?? rule.info.level,
      message: fault.message,
      rows: [...(row === undefined ? [] : [row]), ...(fault.also ?? [])],
      fingerprint,
      ...(row !== undefined && row >= 0 && !this.#onFound && { record: this.#records.get(row) }),
      ...(fault.at !== undefined && { at: fault.at }),
      ...(server !== undefined && { server }),
      ...(tool !== undefined && { tool }),
    }
    if (this.#onFound) return this.#onFound(finding)
    const alike = (this.#alike.get(fingerprint) ?? 0) + 1
    if (alike > this.#mostAlike || this.found.length >= mostFindings) {
      this.left += 1
      return
    }
    this.#alike.set(fingerprint, alike)
    this.found.push(finding)
  }
}
