import type { Filter } from '../filter/index.js'
import { WiretapeError } from '../model/index.js'
import { findMissingSecrets, type MissingSecret, type Plan, type RunOptions } from '../replay/index.js'
import { filterOption } from './filter-option.js'

/** One line holds no more. */
const mostSecretsTold = 5

/**
 * Requests that cannot be sent as they were, and are left out: something in them was redacted.
 *
 * @throws WiretapeError `usage` where nothing makes sense without them
 */
export async function leftOutOf(
  plan: Plan,
  sets: RunOptions['sets'],
  secrets: NonNullable<RunOptions['secrets']>,
  areAllNeeded: boolean,
): Promise<readonly MissingSecret[]> {
  const missing = await findMissingSecrets(plan, sets, secrets)
  const [first] = missing
  const left = new Set(missing.map(({ seq }) => seq)).size
  if (!first) return []
  if (!areAllNeeded && missing.every(({ canBeLeftOut }) => canBeLeftOut) && left < requestsOf(plan))
    return missing
  const told = missing.slice(0, mostSecretsTold).map(({ seq, title, path }) => `#${seq} ${title}: ${path}`)
  const more = missing.length > told.length ? ` and ${missing.length - told.length} more` : ''
  throw new WiretapeError('usage', `redacted values that the server needs: ${told.join('; ')}${more}`, {
    hint: `give them: --set '${first.path}=VALUE', --set '${first.path}=\${VARIABLE}' or ${first.variable}=VALUE in the environment`,
  })
}

export function wordsOfLeftOut({ seq, title, path, variable }: MissingSecret): string {
  return `#${seq} ${title} is left out, since ${path} was redacted: give it by --set '${path}=VALUE' or ${variable}=VALUE in the environment`
}

/** All but those messages. */
export function without(leftOut: readonly MissingSecret[], filter: string | undefined): Filter {
  const others = `not (${leftOut.map(({ seq }) => `seq:${seq}`).join(' or ')})`
  return filterOption(filter === undefined ? others : `(${filter}) ${others}`)
}

/** Requests besides those that open a connection. */
function requestsOf({ frames, index, connections }: Plan): number {
  let requests = 0
  for (const { row } of frames) if (index.entries.kind(row) === 'request') requests += 1
  return requests - [...connections.values()].filter(({ opening }) => opening === 'recorded').length
}
