import { marksOf, placeOf, toJsonPath } from '../compare/index.js'
import { compilePath } from '../json-path/index.js'
import { secretVariable } from '../redaction/index.js'
import { createIntroducedValues } from './introduced-values.js'
import { createLiveValues, type Secrets, type SetValue } from './live-values.js'
import { handshake, type Plan } from './plan.js'
import type { PlannedFrame, PlannedMessage } from './planned-frames.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** A value that is unknown now: it was redacted, and no earlier response contained it. */
export interface MissingSecret {
  readonly seq: number
  /** `tools/call login` */
  readonly title: string
  /** JSONPath to the value. */
  readonly path: string
  /** The environment variable that would give the value, by its member's name. */
  readonly variable: string
  /** The variable for the value's tag: `WIRETAPE_SECRET_TAG`. */
  readonly tagVariable: string
}

const prefix = 'WIRETAPE_SECRET_'

/** The values of `WIRETAPE_SECRET_TAG` variables, each a string. */
export function secretsOf(environment: Environment): Secrets {
  return new Map(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined && value !== ''
        ? [[name.slice(prefix.length), JSON.stringify(value)] as const]
        : [],
    ),
  )
}

type Marks = ReturnType<typeof marksOf>

/** Redacted values of a plan, and the messages that cannot be sent for lack of them. */
export interface Survey {
  /** Rows of messages that cannot be sent. */
  readonly left: ReadonlySet<number>
  readonly missing: readonly MissingSecret[]
  /** Left-out messages by the reason. */
  readonly reasons: ReadonlyMap<string, readonly string[]>
  readonly sets: readonly SetValue[]
  readonly taken: readonly string[]
  /** The handshake is among the left-out messages. */
  readonly isEssential: boolean
}

/** @param isFull also finds messages that need the responses to left-out ones */
export async function surveySecrets(
  plan: Plan,
  given: readonly SetValue[],
  environment: Environment,
  isFull: boolean,
): Promise<Survey> {
  return new SecretSurvey(plan, given, environment, isFull).run()
}

class SecretSurvey {
  readonly #plan: Plan
  readonly #given: readonly SetValue[]
  readonly #environment: Environment
  readonly #isFull: boolean
  /** Tags of values known so far. */
  readonly #known: Set<string>
  readonly #introduced = createIntroducedValues()
  readonly #left = new Set<number>()
  readonly #missing: MissingSecret[] = []
  readonly #reasons = new Map<string, string[]>()
  /** By JSONPath. */
  readonly #fromEnvironment = new Map<string, { value: string; tags: Set<string>; note: string }>()
  /** Requests of the client, by connection and id. */
  readonly #requests = new Map<string, PlannedMessage>()
  #isEssential = false
  #nextRow = 0

  constructor(plan: Plan, given: readonly SetValue[], environment: Environment, isFull: boolean) {
    this.#plan = plan
    this.#given = given
    this.#environment = environment
    this.#isFull = isFull
    this.#known = new Set(secretsOf(environment).keys())
  }

  async run(): Promise<Survey> {
    const { frames } = this.#plan
    for (const frame of frames) {
      const record = await this.#plan.read(frame.locator)
      if (!this.#isFull && !record.red) continue
      await this.#listen(frame.row)
      for (const message of frames.messagesOf(frame, record)) {
        const { start, end } = record.parts[message.part]!
        this.#judge(frame, message, record.raw.slice(start, end), marksOf(record, message.part))
      }
    }
    const sets = [...this.#fromEnvironment].map(([name, { value, tags }]) => ({
      path: compilePath(name),
      name,
      json: JSON.stringify(value),
      onlyRedacted: true,
      tags,
    }))
    return {
      left: this.#left,
      missing: this.#missing,
      reasons: this.#reasons,
      sets,
      taken: [...this.#fromEnvironment.values()].map(({ note }) => note),
      isEssential: this.#isEssential,
    }
  }

  /** Reads the messages of the server up to a row. */
  async #listen(beforeRow: number): Promise<void> {
    const { entries } = this.#plan.index
    for (; this.#nextRow < beforeRow; this.#nextRow += 1) {
      const row = this.#nextRow
      const kind = entries.kind(row)
      if (entries.direction(row) !== 'server_to_client') continue
      if (kind !== 'result' && kind !== 'error' && kind !== 'request') continue
      const { record, part } = await this.#plan.message(row)
      const peer = entries.peer(row)
      const isLost = kind !== 'request' && this.#left.has(peer)
      if (!isLost) for (const { tag } of marksOf(record, part)) this.#known.add(tag)
      if (!this.#isFull) continue
      const { start, end } = record.parts[part]!
      const text = record.raw.slice(start, end)
      if (isLost) this.#introduced.lost(text, entries.seq(peer))
      else this.#introduced.said(text)
    }
  }

  /** Decides whether a message can be sent. */
  #judge(frame: PlannedFrame, message: PlannedMessage, text: string, marks: Marks): void {
    const { kind, id, method } = message
    const secrets = this.#missingIn(message, text, marks)
    this.#missing.push(...secrets)
    if (kind === 'request' && id !== undefined) {
      const key = `${frame.connection} ${id}`
      this.#requests.delete(key)
      this.#requests.set(key, message)
    }
    if (secrets.length > 0) {
      const reason = secrets.map(missingText).join('; ')
      const call = kind === 'answer' ? this.#callThatAsked(message) : undefined
      if (call) this.#leave(call, reason)
      return this.#leave(message, reason)
    }
    const needed = this.#isFull && kind !== 'answer' ? this.#introduced.neededBy(text) : undefined
    if (needed !== undefined) return this.#leave(message, `needs a value from the response to #${needed}`)
    const cancelled = method === 'notifications/cancelled' ? cancelledIn(text) : undefined
    const request =
      cancelled === undefined ? undefined : this.#requests.get(`${frame.connection} ${cancelled}`)
    if (request && this.#left.has(request.row))
      return this.#leave(message, `cancels #${request.seq}, which was skipped`)
    if (this.#isFull) this.#introduced.sent(text)
  }

  /** Redacted values of a message that remain unknown; if there are none, all of its values are known from then on. */
  #missingIn(message: PlannedMessage, text: string, marks: Marks): MissingSecret[] {
    const unknown = marks.filter(({ tag }) => !this.#known.has(tag))
    if (unknown.length === 0) return []
    const open = new Set(createLiveValues(this.#given).apply(text, unknown).missing)
    const { seq } = message
    const title = titleOf(message)
    const tagAt = (place: string): string => unknown.find(({ at }) => at === place)?.tag ?? ''
    const wanted = [...open].map((at) => {
      const place = placeOf(at)
      const member = place.findLast((step) => typeof step === 'string') ?? 'secret'
      return {
        seq,
        title,
        path: toJsonPath(place),
        variable: secretVariable(member),
        tagVariable: prefix + tagAt(at),
        at,
      }
    })
    const nowhere = wanted.filter(({ variable }) => (this.#environment[variable] ?? '') === '')
    if (nowhere.length > 0) return nowhere
    for (const { path, variable, at } of wanted) {
      const value = this.#environment[variable]!
      const note = `#${seq} ${title}: ${path} was redacted; its value comes from the environment variable ${variable}`
      const taken = this.#fromEnvironment.get(path) ?? { value, tags: new Set(), note }
      for (const { at: marked, tag } of unknown) if (marked === at) taken.tags.add(tag)
      this.#fromEnvironment.set(path, taken)
    }
    for (const { tag } of unknown) this.#known.add(tag)
    return []
  }

  #leave({ row, seq, method, ...message }: PlannedMessage, reason: string): void {
    if (this.#left.has(row)) return
    this.#left.add(row)
    this.#isEssential ||= handshake.has(method)
    const called = `#${seq} ${titleOf({ ...message, ...(method !== undefined && { method }) })}`
    this.#reasons.set(reason, [...(this.#reasons.get(reason) ?? []), called])
  }

  /** The newest call during which the server made the request; without the client's response it would end otherwise. */
  #callThatAsked({ row, peer }: PlannedMessage): PlannedMessage | undefined {
    if (peer < 0) return undefined
    const isOpen = (call: PlannedMessage): boolean => call.row < peer && (call.peer < 0 || call.peer > row)
    return [...this.#requests.values()].findLast(isOpen)
  }
}

function titleOf({ method = 'a response', name }: Pick<PlannedMessage, 'method' | 'name'>): string {
  return name === undefined ? method : `${method} ${name}`
}

function missingText({ path, variable, tagVariable }: MissingSecret): string {
  return `${path} was redacted; set ${variable} or ${tagVariable}=VALUE in the environment, or use --set`
}

/** The id in a `notifications/cancelled`, as JSON text. */
function cancelledIn(text: string): string | undefined {
  try {
    const { params } = JSON.parse(text) as { params?: { requestId?: unknown } }
    return JSON.stringify(params?.requestId)
  } catch {
    return undefined
  }
}
