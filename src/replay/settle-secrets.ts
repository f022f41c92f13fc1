import { marksOf, placeOf, toJsonPath } from '../compare/index.js'
import { compilePath } from '../json-path/index.js'
import { isAnswer, WiretapeError } from '../model/index.js'
import { secretVariable } from '../redaction/index.js'
import { createIntroducedValues } from './introduced-values.js'
import { createLiveValues, type Secrets, type SetValue } from './live-values.js'
import { handshake, type Plan } from './plan.js'
import { planWithout } from './plan-without.js'
import type { PlannedFrame, PlannedMessage } from './planned-frames.js'

type Environment = Readonly<Record<string, string | undefined>>

/** A value that is unknown now: it was redacted, and no earlier response contained it. */
interface MissingSecret {
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
function secretsOf(environment: Environment): Secrets {
  return new Map(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined && value !== ''
        ? [[name.slice(prefix.length), JSON.stringify(value)] as const]
        : [],
    ),
  )
}

/** A replay that can run with the redacted values known so far. */
export interface SettledSecrets {
  /** Without the messages that cannot be sent. */
  readonly plan: Plan
  /** Includes values from the environment. */
  readonly sets: readonly SetValue[]
  /** Values of `WIRETAPE_SECRET_TAG` variables. */
  readonly secrets: Secrets
  /** The messages left out, and the values taken from the environment. */
  readonly notes: readonly string[]
}

/**
 * Finds redacted values that a live server would get as a marker. A redacted value is known when the server sends it
 * before (it has the same tag), when `--set` gives it, or when the environment has a variable of its name. Messages
 * with unknown values are left out, and so are messages that return a value of their responses.
 *
 * @param isStrict no message may be left out
 * @throws WiretapeError `usage` for missing values if `isStrict` or in the handshake, and when nothing else is left
 */
export async function settleSecrets(
  plan: Plan,
  sets: readonly SetValue[],
  environment: Environment,
  isStrict = false,
): Promise<SettledSecrets> {
  if (plan.session?.redaction === 'none') return { plan, sets, secrets: new Map(), notes: [] }
  const secrets = secretsOf(environment)
  const first = await survey(plan, sets, environment, false)
  // Finding later messages that need the left-out ones requires reading the whole conversation.
  const found = first.left.size === 0 ? first : await survey(plan, sets, environment, true)
  const all = [...found.sets, ...sets]
  if (found.left.size === 0) return { plan, sets: all, secrets, notes: found.taken }
  if (isStrict || found.isEssential) throw refusal(found.missing)
  const rest = await planWithout(plan, found.left)
  if (!(await asksAnything(rest))) throw refusal(found.missing)
  return { plan: rest, sets: all, secrets, notes: [...found.taken, ...leftOutNotes(found.reasons)] }
}

type Marks = ReturnType<typeof marksOf>

interface Survey {
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
async function survey(
  plan: Plan,
  given: readonly SetValue[],
  environment: Environment,
  isFull: boolean,
): Promise<Survey> {
  const { entries } = plan.index
  /** Tags of values known so far. */
  const known = new Set<string>(secretsOf(environment).keys())
  const introduced = createIntroducedValues()
  const left = new Set<number>()
  const missing: MissingSecret[] = []
  const reasons = new Map<string, string[]>()
  const fromEnvironment = new Map<string, { value: string; tags: Set<string>; note: string }>()
  /** Requests of the client, by connection and id. */
  const requests = new Map<string, PlannedMessage>()
  let isEssential = false
  let nextRow = 0

  async function listen(beforeRow: number): Promise<void> {
    for (; nextRow < beforeRow; nextRow += 1) {
      const kind = entries.kind(nextRow)
      if (entries.direction(nextRow) !== 'server_to_client') continue
      if (kind !== 'result' && kind !== 'error' && kind !== 'request') continue
      const { record, part } = await plan.message(nextRow)
      const peer = entries.peer(nextRow)
      const isLost = kind !== 'request' && left.has(peer)
      if (!isLost) for (const { tag } of marksOf(record, part)) known.add(tag)
      if (!isFull) continue
      const { start, end } = record.parts[part]!
      const text = record.raw.slice(start, end)
      if (isLost) introduced.lost(text, entries.seq(peer))
      else introduced.said(text)
    }
  }

  /** Redacted values of a message that remain unknown; if there are none, all of its values are known from then on. */
  function missingIn(message: PlannedMessage, text: string, marks: Marks): MissingSecret[] {
    const unknown = marks.filter(({ tag }) => !known.has(tag))
    if (unknown.length === 0) return []
    const open = new Set(createLiveValues(given).apply(text, unknown).missing)
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
    const nowhere = wanted.filter(({ variable }) => (environment[variable] ?? '') === '')
    if (nowhere.length > 0) return nowhere
    for (const { path, variable, at } of wanted) {
      const note = `#${seq} ${title}: ${path} was redacted; its value comes from the environment variable ${variable}`
      const taken = fromEnvironment.get(path) ?? { value: environment[variable]!, tags: new Set(), note }
      for (const { at: marked, tag } of unknown) if (marked === at) taken.tags.add(tag)
      fromEnvironment.set(path, taken)
    }
    for (const { tag } of unknown) known.add(tag)
    return []
  }

  function leave({ row, seq, method, ...message }: PlannedMessage, reason: string): void {
    if (left.has(row)) return
    left.add(row)
    isEssential ||= handshake.has(method)
    const called = `#${seq} ${titleOf({ ...message, ...(method !== undefined && { method }) })}`
    reasons.set(reason, [...(reasons.get(reason) ?? []), called])
  }

  /** The newest call during which the server made the request; without the client's response it would end otherwise. */
  function callThatAsked({ row, peer }: PlannedMessage): PlannedMessage | undefined {
    if (peer < 0) return undefined
    const isOpen = (call: PlannedMessage): boolean => call.row < peer && (call.peer < 0 || call.peer > row)
    return [...requests.values()].findLast(isOpen)
  }

  function judge(frame: PlannedFrame, message: PlannedMessage, text: string, marks: Marks): void {
    const { kind, id, method } = message
    const secrets = missingIn(message, text, marks)
    missing.push(...secrets)
    if (kind === 'request' && id !== undefined) {
      const key = `${frame.connection} ${id}`
      requests.delete(key)
      requests.set(key, message)
    }
    if (secrets.length > 0) {
      const reason = secrets.map(missingText).join('; ')
      const call = kind === 'answer' ? callThatAsked(message) : undefined
      if (call) leave(call, reason)
      return leave(message, reason)
    }
    const needed = isFull && kind !== 'answer' ? introduced.neededBy(text) : undefined
    if (needed !== undefined) return leave(message, `needs a value from the response to #${needed}`)
    const cancelled = method === 'notifications/cancelled' ? cancelledIn(text) : undefined
    const request = cancelled === undefined ? undefined : requests.get(`${frame.connection} ${cancelled}`)
    if (request && left.has(request.row)) return leave(message, `cancels #${request.seq}, which was skipped`)
    if (isFull) introduced.sent(text)
  }

  for (const frame of plan.frames) {
    const record = await plan.read(frame.locator)
    if (!isFull && !record.red) continue
    await listen(frame.row)
    for (const message of plan.frames.messagesOf(frame, record)) {
      const { start, end } = record.parts[message.part]!
      judge(frame, message, record.raw.slice(start, end), marksOf(record, message.part))
    }
  }
  const sets = [...fromEnvironment].map(([name, { value, tags }]) => ({
    path: compilePath(name),
    name,
    json: JSON.stringify(value),
    onlyRedacted: true,
    tags,
  }))
  const taken = [...fromEnvironment.values()].map(({ note }) => note)
  return { left, missing, reasons, sets, taken, isEssential }
}

/** Whether the plan sends anything but the handshake. */
async function asksAnything(plan: Plan): Promise<boolean> {
  for (const frame of plan.frames) {
    const { parts } = await plan.read(frame.locator)
    if (parts.some(({ envelope }) => !handshake.has(envelope.method) && !isAnswer(envelope))) return true
  }
  return false
}

function titleOf({ method = 'a response', name }: Pick<PlannedMessage, 'method' | 'name'>): string {
  return name === undefined ? method : `${method} ${name}`
}

function missingText({ path, variable, tagVariable }: MissingSecret): string {
  return `${path} was redacted; set ${variable} or ${tagVariable}=VALUE in the environment, or use --set`
}

function leftOutNotes(reasons: Survey['reasons']): string[] {
  return [...reasons].map(([reason, messages]) => {
    const verb = messages.length === 1 ? 'was' : 'were'
    return `${messages.join(', ')} ${verb} skipped: ${reason}`
  })
}

const mostSecretsTold = 5

function refusal(missing: readonly MissingSecret[]): WiretapeError {
  const told = missing.slice(0, mostSecretsTold).map(({ seq, title, path }) => `#${seq} ${title}: ${path}`)
  const more = missing.length > told.length ? ` and ${missing.length - told.length} more` : ''
  const { path, tagVariable } = missing[0]!
  return new WiretapeError('usage', `redacted values are missing: ${told.join('; ')}${more}`, {
    hint: `provide them with --set '${path}=VALUE', --set '${path}=\${VARIABLE}' or ${tagVariable}=VALUE in the environment`,
  })
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
