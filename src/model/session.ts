import type { Draft } from './draft.js'
import type { Direction, Envelope, Transport } from './envelope.js'
import { eraOfMethod, type Era } from './protocol.js'
import type { JsonMembers, MetaRecord, RuleCount } from './record.js'

/** Placeholder for an unknown time: some formats have no times. */
export const noTime = '1970-01-01T00:00:00.000Z'

/** One run of one capture, as described by its records. */
export interface Session {
  /** UUID, or a generated `session-N` when the recorder gave none. */
  readonly id: string
  readonly label: string
  readonly startedAt: string
  /** Null while it runs, or when the recording was cut off. */
  readonly endedAt: string | null
  readonly transport: Transport
  readonly command: readonly string[]
  readonly url: string | null
  readonly metadata: JsonMembers
  /** Proof of the recorder's identity, when present. */
  readonly origin?: string
  /** Numbers of the segments that were read, in reading order. `[0]` for an unrotated recording. */
  readonly segments: readonly number[]
  /** False when it was cut off, still runs, or continues in a segment that was not read. */
  readonly complete: boolean
  /** The last segment read refers to a next one. */
  readonly continues: boolean
  /** `wiretape recover` wrote its end line, so the actual end is unknown. */
  readonly recovered?: true
  readonly exitCode?: number
  readonly durationMs?: number
  readonly signal?: string
  /** The reason why the server could not be started. */
  readonly error?: string
  /** `none`, or the name of the redaction rules. */
  readonly redaction: string
  /** Number of values that each rule redacted, when recorded. */
  readonly redacted?: readonly RuleCount[]
  /** Both eras can appear on one wire. */
  readonly eras: readonly Era[]
  /** The negotiated version, or the last one requested. */
  readonly protocolVersion?: string
  /** The client that identified itself last. */
  readonly client?: Peer
  readonly server?: Peer
  /** All clients by name and version, in order of appearance; at most the first 100. */
  readonly clients: readonly Peer[]
}

/** A program's own name and version. */
export interface Peer {
  readonly name: string
  readonly version: string
}

/** A session under construction. */
export type SessionDraft = Draft<Session> & {
  readonly started: number
  /** The recorder gave ids and links; missing numbers are counted up from `nextSeq`. */
  readonly own: boolean
  nextSeq: number
  eras: Era[]
  segments: number[]
  clients: Peer[]
}

const mostClients = 100

/** A client or a server identified itself. */
export function notePeer(session: SessionDraft, direction: Direction, peer: Peer): void {
  if (direction === 'server_to_client') {
    session.server = peer
    return
  }
  session.client = peer
  const isKnown = session.clients.some(({ name, version }) => name === peer.name && version === peer.version)
  if (!isKnown && session.clients.length < mostClients) session.clients.push(peer)
}

export function noteEra(session: SessionDraft, era: Era | undefined): void {
  if (era && !session.eras.includes(era)) session.eras.push(era)
}

/** The handshake belongs to the legacy era, whatever version it names; `_meta` to the modern era. */
export function eraOfEnvelope({ method, modern, protocolVersion }: Envelope): Era | undefined {
  const era = eraOfMethod(method ?? '')
  if (era) return era
  if (modern) return 'modern'
  return protocolVersion === undefined ? undefined : 'legacy'
}

/** A session from its first line. @param number of the session in its recording, from 1 */
export function beginSession(meta: MetaRecord, number: number): SessionDraft {
  const identity = meta.wiretape
  return {
    id: identity?.session ?? `session-${number}`,
    label: meta.label,
    startedAt: meta.startedAt,
    started: Date.parse(meta.startedAt),
    own: identity !== undefined || meta.made === true,
    nextSeq: 0,
    endedAt: null,
    transport: identity?.transport ?? 'stdio',
    command: meta.command,
    url: identity?.url ?? null,
    metadata: identity?.metadata ?? [],
    ...(identity?.origin !== undefined && { origin: identity.origin }),
    redaction: identity?.redaction ?? 'none',
    segments: [identity?.segment ?? 0],
    complete: false,
    continues: false,
    eras: [],
    clients: [],
  }
}
