import { marksOf, placeOf, toJsonPath } from '../compare/index.js'
import { createLiveValues, type Mark, type Secrets, type SetValue } from './live-values.js'
import type { Plan } from './plan.js'

/** A message that cannot be sent as it was: something in it was redacted, and no answer before it had it. */
export interface MissingSecret {
  readonly seq: number
  /** `tools/call login` */
  readonly title: string
  /** JSONPath to the value. */
  readonly path: string
  /** Variable of the environment that would give it. */
  readonly variable: string
  /** A request other than the handshake's: the rest can be replayed without it. */
  readonly canBeLeftOut: boolean
}

const prefix = 'WIRETAPE_SECRET_'

/** The values of `WIRETAPE_SECRET_TAG` variables, each a string. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): Secrets {
  return new Map(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith(prefix) && value !== undefined && value !== ''
        ? [[name.slice(prefix.length), JSON.stringify(value)] as const]
        : [],
    ),
  )
}

/**
 * Finds what a live server would get a marker for. A redacted value is known when the server itself said it before
 * (it has the same tag), or when `--set` or the environment gives it.
 */
export async function findMissingSecrets(
  plan: Plan,
  sets: readonly SetValue[],
  secrets: Secrets = new Map(),
): Promise<MissingSecret[]> {
  const missing: MissingSecret[] = []
  if (plan.session?.redaction === 'none') return missing
  /** Tags of values that the server will have said by then. */
  const said = new Set<string>(secrets.keys())
  const { entries } = plan.index
  const values = createLiveValues(sets)
  let nextRow = 0

  async function listen(beforeRow: number): Promise<void> {
    for (; nextRow < beforeRow; nextRow += 1) {
      const isOfServer = entries.direction(nextRow) === 'server_to_client'
      const kind = entries.kind(nextRow)
      if (!isOfServer || (kind !== 'result' && kind !== 'error' && kind !== 'request')) continue
      const { record, part } = await plan.message(nextRow)
      for (const { tag } of marksOf(record, part)) said.add(tag)
    }
  }

  for (const frame of plan.frames) {
    const record = await plan.read(frame.locator)
    if (!record.red) continue
    await listen(frame.row)
    for (const { part, seq, method = 'an answer', name } of plan.frames.messagesOf(frame, record)) {
      const unknown = marksOf(record, part).filter(({ tag }) => !said.has(tag))
      if (unknown.length === 0) continue
      const { start, end } = record.parts[part]!
      const open = new Set(values.apply(record.raw.slice(start, end), unknown).missing)
      const title = name === undefined ? method : `${method} ${name}`
      const canBeLeftOut = entries.kind(frame.row) === 'request' && method !== 'initialize'
      for (const { at, tag } of unknown.filter(isFirstAt)) {
        if (!open.has(at)) continue
        const variable = `${prefix}${tag}`
        missing.push({ seq, title, path: toJsonPath(placeOf(at)), variable, canBeLeftOut })
      }
    }
  }
  return missing
}

function isFirstAt({ at }: Mark, index: number, all: readonly Mark[]): boolean {
  return all.findIndex((mark) => mark.at === at) === index
}
