import { JsonObject, kindAt } from '../../wire/index.js'

/** Evidence in a transcript for how clients discover authorization: only its presence, no contents. */
export interface Discovery {
  readonly resourceMetadata: boolean
  readonly scope: boolean
}

/**
 * The evidence of one `response` entry: only a 401 with a `WWW-Authenticate` challenge that has
 * `resource_metadata` or `scope` counts.
 *
 * @param entry its members `transport_context` and `headers`, each as exact JSON text
 */
export function discoveryOf(entry: {
  readonly context: string | undefined
  readonly headers: string | undefined
}): Discovery | undefined {
  const containers = [objectOf(entry.context), objectOf(entry.headers)]
  if (firstOf(containers, statusIn) !== 401) return undefined
  const challenge = firstOf(containers, challengeIn)?.toLowerCase()
  if (challenge === undefined) return undefined
  const found = {
    resourceMetadata: /(?:^|[ ,\t])resource_metadata=/.test(challenge),
    scope: /(?:^|[ ,\t])scope=/.test(challenge),
  }
  return found.resourceMetadata || found.scope ? found : undefined
}

function firstOf<T>(
  containers: readonly (JsonObject | undefined)[],
  find: (container: JsonObject) => T | undefined,
): T | undefined {
  for (const container of containers) {
    const found = container && find(container)
    if (found !== undefined) return found
  }
  return undefined
}

function objectOf(text: string | undefined): JsonObject | undefined {
  return text !== undefined && kindAt(text, 0) === 'object' ? new JsonObject(text, 0) : undefined
}

function statusIn(container: JsonObject): number | undefined {
  for (const name of ['status', 'status_code', 'http_status']) {
    const text = container.string(name) ?? container.raw(name)
    if (text !== undefined && /^\+?\d{1,20}$/.test(text) && Number(text) <= 65_535) return Number(text)
  }
  const inner = container.object('response')
  return inner && statusIn(inner)
}

function challengeIn(container: JsonObject): string | undefined {
  for (const name of ['headers', 'response']) {
    const inner = container.object(name)
    const found = inner && challengeIn(inner)
    if (found !== undefined) return found
  }
  for (const [name] of container.others()) {
    if (name.toLowerCase() !== 'www-authenticate') continue
    const value = container.string(name)
    if (value !== undefined) return value
  }
  return undefined
}
