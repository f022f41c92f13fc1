import type { Told, ToldMessage } from '../told/told.js'
import { boundedName, type Attributes } from './telemetry.js'
import type { Way } from './describe.js'
import type { Measure } from './meter.js'
import type { Observed } from './observed.js'

/** Maximum number of open sessions; beyond that, the oldest end with their last message. */
const mostSessions = 10_000

interface OpenSession {
  readonly startUs: number
  lastUs: number
  readonly way: Way
  version: string | undefined
}

/** Session durations: from `initialize` to the end. The protocol of 2026-07-28 has no sessions. */
export interface Sessions {
  see(message: ToldMessage, way: Way, version: string | undefined): Generator<Observed>
  seeOther(other: Exclude<Told, ToldMessage>): Generator<Observed>
  end(): Generator<Observed>
}

export function createSessions(): Sessions {
  const open = new Map<string, OpenSession>()

  function close(conversation: string, endUs: number): Observed {
    const { startUs, way, version } = open.get(conversation)!
    open.delete(conversation)
    const seconds = Math.max(0, endUs - startUs) / 1e6
    const attributes: Attributes = [
      ...(version === undefined ? [] : [['mcp.protocol.version', boundedName(version)] as const]),
      ...way.network,
    ]
    const measures: Measure[] = [
      { metric: 'mcp.client.session.duration', seconds, attributes: [...attributes, ...way.server] },
      { metric: 'mcp.server.session.duration', seconds, attributes },
    ]
    return { measures }
  }

  return {
    *see({ record, part, us }, way, version) {
      if (us === undefined) return
      const { conversation = '' } = record
      const session = open.get(conversation)
      if (session) {
        session.lastUs = us
        session.version = version
      } else if (part.envelope.kind === 'request' && part.envelope.method === 'initialize') {
        open.set(conversation, { startUs: us, lastUs: us, way, version })
        if (open.size > mostSessions)
          for (const [oldest, { lastUs }] of open) return yield close(oldest, lastUs)
      }
    },
    *seeOther({ record, us = 0 }) {
      if (record.type === 'end' && !record.wiretape?.rotated)
        for (const conversation of open.keys()) yield close(conversation, us)
      else if (record.type === 'http' && record.method === 'DELETE' && (record.status ?? 500) < 300)
        if (open.has(record.conversation ?? '')) yield close(record.conversation ?? '', us)
    },
    *end() {
      for (const [conversation, { lastUs }] of open) yield close(conversation, lastUs)
    },
  }
}
