import { isAnswer, WiretapeError } from '../model/index.js'
import type { Secrets, SetValue } from './live-values.js'
import { handshake, type Plan } from './plan.js'
import { planWithout } from './plan-without.js'
import {
  secretsOf,
  surveySecrets,
  type Environment,
  type MissingSecret,
  type Survey,
} from './survey-secrets.js'

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
  const first = await surveySecrets(plan, sets, environment, false)
  // Finding later messages that need the left-out ones requires reading the whole conversation.
  const found = first.left.size === 0 ? first : await surveySecrets(plan, sets, environment, true)
  const all = [...found.sets, ...sets]
  if (found.left.size === 0) return { plan, sets: all, secrets, notes: found.taken }
  if (isStrict || found.isEssential) throw refusal(found.missing)
  const rest = await planWithout(plan, found.left)
  if (!(await asksAnything(rest))) throw refusal(found.missing)
  return { plan: rest, sets: all, secrets, notes: [...found.taken, ...leftOutNotes(found.reasons)] }
}

/** Whether the plan sends anything but the handshake. */
async function asksAnything(plan: Plan): Promise<boolean> {
  for (const frame of plan.frames) {
    const { parts } = await plan.read(frame.locator)
    if (parts.some(({ envelope }) => !handshake.has(envelope.method) && !isAnswer(envelope))) return true
  }
  return false
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
