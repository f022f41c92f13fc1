import { JsonObject, spliceText } from '../../wire/index.js'
import type { BodyChange } from './body-flow.js'
import { movedOrigin } from './moved-origin.js'

/** RFC 9728 documents have some hundred bytes. Longer ones pass unchanged. */
const longestDocument = 1 << 20
const wellKnown = /^\/\.well-known\/oauth-protected-resource(?![^/?])/

/** Metadata paths that are remembered: one for each requested resource of a server. */
const mostPlaces = 100

/** Paths with metadata of a protected resource: a well-known path, or the one in a challenge. */
export interface MetadataPlaces {
  has(method: string, path: string): boolean
  /**
   * A challenge names the metadata of the resource by an absolute URL (RFC 9728, 5.1). A URL on `from` becomes ours.
   */
  moveChallenge(value: string, from: string, to: string): string
}

export function createMetadataPlaces(): MetadataPlaces {
  const paths = new Set<string>()
  return {
    has: (method, path) => method === 'GET' && (wellKnown.test(path) || paths.has(path)),
    moveChallenge: (value, from, to) =>
      value.replaceAll(/(\bresource_metadata\s*=\s*"?)([^",\s]+)/gi, (whole, before: string, url: string) => {
        const ours = movedOrigin(url, from, to)
        if (ours === undefined) return whole
        if (paths.size < mostPlaces) paths.add(ours.slice(to.length) || '/')
        return before + ours
      }),
  }
}

/**
 * Holds the whole document and changes `resource` to our URL, because clients compare it with the URL they use.
 *
 * @param whole value for all resources; undefined to move only the origin, to `to`
 * @param passHead called once, before the first bytes pass; with `sizeBytes` when the size changed
 */
export function createResourceMove(
  from: string,
  to: string,
  whole: string | undefined,
  passHead: (sizeBytes?: number) => void,
): BodyChange {
  let held: Buffer[] | undefined = []
  let sizeBytes = 0
  const none = Buffer.alloc(0)
  return {
    push(chunk) {
      if (held === undefined) return chunk
      held.push(chunk)
      sizeBytes += chunk.length
      if (sizeBytes <= longestDocument) return none
      const all = Buffer.concat(held)
      held = undefined
      passHead()
      return all
    },
    end() {
      if (held === undefined) return none
      const original = Buffer.concat(held)
      held = undefined
      const moved = moveResource(original, from, to, whole)
      passHead(moved?.length)
      return moved ?? original
    },
  }
}

function moveResource(
  bytes: Buffer,
  from: string,
  to: string,
  whole: string | undefined,
): Buffer | undefined {
  const text = bytes.toString('utf8')
  if (!Buffer.from(text, 'utf8').equals(bytes)) return undefined
  const document = JsonObject.in(text)
  if (!document) return undefined
  const start = document.at('resource')?.start
  const moved = movedOrigin(document.string('resource') ?? '', from, to)
  if (start === undefined || moved === undefined) return undefined
  const end = start + (document.raw('resource')?.length ?? 0)
  return Buffer.from(spliceText(text, [{ start, end, text: JSON.stringify(whole ?? moved) }]), 'utf8')
}
