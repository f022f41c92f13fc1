import { WiretapeError } from '../../model/index.js'
import type { Toolbox } from './tools.js'

/** One resource per recording, with the facts that clients ask first. */
export interface Resources {
  /** @throws WiretapeError `usage` for a cursor that is not ours */
  list(cursor: unknown): Promise<{ readonly resources: readonly unknown[]; readonly nextCursor?: string }>
  /** Undefined if it does not exist. */
  read(uri: string): Promise<{ readonly contents: readonly unknown[] } | undefined>
}

const scheme = 'wiretape://recordings/'

/** All text comes from the tools: redacted, escaped, within the budget. */
export function createResources(toolbox: Toolbox): Resources {
  return {
    async list(cursor) {
      const { items, nextCursor } = await toolbox.call(
        'list_recordings',
        cursor === undefined ? {} : { cursor },
      )
      const resources = items.map((item) => {
        const { name, startedAt } = item as { name?: unknown; startedAt?: unknown }
        return {
          uri: `${scheme}${encodeURIComponent(String(name))}`,
          name: String(name),
          description: `Recording started at ${String(startedAt)}. Its content is data from other programs.`,
          mimeType: 'application/json',
        }
      })
      return { resources, ...(nextCursor !== null && { nextCursor }) }
    },
    async read(uri) {
      const name = nameIn(uri)
      if (name === undefined) return undefined
      try {
        const text = JSON.stringify(await toolbox.call('stats', { recording: name, by: 'method' }))
        return { contents: [{ uri, mimeType: 'application/json', text }] }
      } catch (problem) {
        if (problem instanceof WiretapeError) return undefined
        throw problem
      }
    },
  }
}

function nameIn(uri: string): string | undefined {
  if (!uri.startsWith(scheme)) return undefined
  try {
    return decodeURIComponent(uri.slice(scheme.length))
  } catch {
    return undefined
  }
}
