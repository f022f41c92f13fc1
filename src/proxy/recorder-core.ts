import type { EndRecord, MetaRecord, OpenRequest, RuleCount, TapeRecord } from '../model/index.js'
import {
  createQuotaDisk,
  Journal,
  SegmentFile,
  realDisk,
  type JournalOptions,
  type JournalReport,
  type Quota,
  type TapeEnd,
} from '../tape/index.js'
import type { GateEntry } from '../intercept/index.js'
import type { Redactor } from '../redaction/index.js'
import type { Channel } from './channel.js'
import type { ChunkBatch } from './chunk-batch.js'
import { createConversations, type Conversations } from '../transports/index.js'
import type { MirroredArgument } from '../wire/index.js'
import { createHttpBuilder, type HttpBuilder } from './http-builder.js'
import { viewsOf, type HttpBatch } from './http-batch.js'
import type { OpenExchange } from './open-exchanges.js'
import type { TakeLine } from './plain-frames.js'
import { RecordBuilder } from './record-builder.js'
import type { Numbers } from './message-numbers.js'
import { Scratch } from './region-pool.js'
import { createRecordGuard, guardClosing } from './record-guard.js'
import type { Redaction } from './run-redactor.js'
import { tellProgress, watchedDisk, type Progress, type ThreadState } from './thread-state.js'
import type { ChannelLoss } from './channel-loss.js'

/** Settings of the recording side. Can be posted to another thread. */
export interface RecorderInit {
  /** Open file that contains the meta line. */
  readonly tape: { readonly path: string; readonly fd: number; readonly sizeBytes: number }
  /** A second tape with everything, for when the first one is strict and the recording is processed further. */
  readonly full?: RecorderInit['tape']
  readonly meta: MetaRecord
  /** `process.hrtime.bigint()` at the start of the session. */
  readonly startedNs: bigint
  /** Shared memory for the state of the thread. */
  readonly state?: ThreadState
  readonly strict: boolean
  readonly redaction: Redaction
  /** The client's side of the connection: pipes or HTTP, whatever the server uses. */
  readonly wire: 'pipes' | 'http'
  /** The transport's key, so that both give a conversation the same name. */
  readonly conversationKey?: string
  readonly maxBytes?: number
  readonly maxFiles?: number
  /** Age at which a segment is closed, in milliseconds. */
  readonly sealAfterMs?: number
  readonly quota?: Quota
  /** Only for a thread that replaces a dead one. It writes a new segment. */
  readonly resume?: Resume
}

/** The state left by the previous thread. */
export interface Resume extends Progress {
  readonly redacted: readonly RuleCount[]
  /** HTTP sessions with a known name, oldest first. */
  readonly sessions: readonly NamedSession[]
}

/** An HTTP session that a response named, with its conversation. */
export interface NamedSession {
  readonly session: string
  readonly connection: number
  readonly origin?: string
  readonly conversation: string
}

/** The end of a session, for the last line of the tape. */
export type SessionEnd = Omit<NonNullable<EndRecord['wiretape']>, 'messages'> & { readonly exitCode: number }

/** The result of a recording. */
export interface RecordingReport extends JournalReport {
  /** Number of redactions per rule, including those in `SessionEnd`. */
  readonly redacted: readonly RuleCount[]
}

/** Messages of the forwarding side to the recording side, in order. */
export type RecorderMessage =
  | { readonly kind: 'chunks'; readonly batch: ChunkBatch }
  | { readonly kind: 'ended'; readonly channel: Channel; readonly us: number; readonly wallMs: number }
  | {
      readonly kind: 'lost'
      readonly channel: Channel
      readonly us: number
      readonly wallMs: number
      readonly bytes: number
      readonly lines: number
      readonly atLineStart: boolean
      readonly why: string
    }
  | {
      readonly kind: 'undelivered'
      readonly channel: 'in' | 'out'
      readonly us: number
      readonly wallMs: number
      readonly deliveredBytes: number
      readonly why: string
    }
  | { readonly kind: 'http'; readonly batch: HttpBatch }
  | {
      readonly kind: 'http-lost'
      readonly us: number
      readonly wallMs: number
      readonly bytes: number
      readonly messages: number
      readonly why: string
    }
  /** The previous thread died. The first message for its replacement. */
  | {
      readonly kind: 'died'
      readonly us: number
      readonly wallMs: number
      readonly why: string
      /** At least one channel, or the losses of HTTP. */
      readonly losses: readonly ChannelLoss[]
      /** Further lost messages and their bytes. */
      readonly messages: number
      readonly bytes: number
      /** Running HTTP exchanges. */
      readonly exchanges: readonly OpenExchange[]
    }
  | { readonly kind: 'gate'; readonly entry: GateEntry; readonly us: number; readonly wallMs: number }
  /** Asks for the open requests, as of all previous messages. */
  | { readonly kind: 'open-requests' }
  /** Asks for the arguments of a tool that headers repeat, as of all previous messages. */
  | { readonly kind: 'tool-headers'; readonly tool: string }
  | { readonly kind: 'close'; readonly end: SessionEnd }

/** The recording side: everything except forwarding. */
export interface RecorderCore {
  /** A promise when decoding is asynchronous. The next message must wait for it. */
  handle(message: RecorderMessage): RecordingReport | undefined | Promise<undefined>
  /** The current end of the tape. */
  readonly tapeEnd: TapeEnd | undefined
  openRequests(): OpenRequest[]
  toolHeaders(tool: string): readonly MirroredArgument[] | undefined
  /** Changes since the last call. */
  takeNews(): {
    readonly redacted?: readonly RuleCount[]
    readonly sessions?: readonly NamedSession[]
    /** A problem that the user should know. */
    readonly trouble?: string
  }
  /** Closes an old segment. Called periodically. */
  sealOld(): void
}

export function createRecorderCore(init: RecorderInit, redactor: Redactor): RecorderCore {
  const { resume } = init
  const numbers: Numbers = { next: resume?.next ?? 0 }
  const builder = new RecordBuilder(redactor, numbers, resume)
  const isStdio = init.wire === 'pipes'
  let httpBuilder: HttpBuilder | undefined
  const talks = createConversations(init.conversationKey)
  for (const named of resume?.sessions ?? []) talks.begin(named.session, named)
  const named: NamedSession[] = []
  const watched: Conversations = {
    of: (from, session) => talks.of(from, session),
    begin(session, { connection, origin, conversation }) {
      if (!talks.begin(session, { connection, conversation, ...(origin !== undefined && { origin }) }))
        return false
      named.push({ session, connection, conversation, ...(origin !== undefined && { origin }) })
      return true
    },
  }
  const http = (): HttpBuilder =>
    (httpBuilder ??= createHttpBuilder(redactor, watched, numbers, resume !== undefined))
  const now = (): { t: string; us: number } => ({
    t: new Date().toISOString(),
    us: Math.round(Number(process.hrtime.bigint() - init.startedNs) / 1000),
  })
  const bareDisk = init.state ? watchedDisk(realDisk, init.state) : realDisk
  const quotaDisk = init.quota && createQuotaDisk(bareDisk, init.quota)
  const disk = quotaDisk ?? bareDisk
  const journalOf = (
    { path, fd, sizeBytes }: RecorderInit['tape'],
    options: JournalOptions,
    segment: number | undefined,
  ): Journal =>
    resume
      ? Journal.after(path, init.meta, options, { ...resume, segment: segment ?? resume.segment })
      : new Journal(new SegmentFile(path, fd, sizeBytes, disk), init.meta, options)
  const full = init.full && journalOf(init.full, { disk, now }, 0)
  const journal = journalOf(
    init.tape,
    {
      disk,
      strict: init.strict,
      now,
      ...(init.maxBytes !== undefined && { maxBytes: init.maxBytes }),
      ...(init.maxFiles !== undefined && { maxFiles: init.maxFiles }),
      ...(init.sealAfterMs !== undefined && { sealAfterMs: init.sealAfterMs }),
    },
    undefined,
  )
  let toldRedacted = 0
  const redactedSoFar = (): RuleCount[] => sumOf(resume?.redacted ?? [], redactor.report())

  function tell(): void {
    if (!init.state) return
    const { messages, gaps, lost } = journal.report()
    const { recorded, shift } = builder
    const { segment } = journal.end
    tellProgress(init.state, { next: numbers.next, segment, messages, gaps, lost, recorded, shift })
  }
  tell()

  const guard = createRecordGuard(redactor)

  function add(record: TapeRecord): void {
    const guarded = guard(record)
    full?.add(guarded)
    journal.add(guarded)
  }

  /** A strict tape has other lines, and its second tape has everything: both need full records. */
  const addPlain: TakeLine | undefined =
    init.strict || full ? undefined : (line, ids) => journal.addPlain(line, ids)

  function flush(): undefined {
    full?.flush()
    journal.flush()
    tell()
  }

  function append(records: readonly TapeRecord[]): undefined {
    for (const record of records) add(record)
    flush()
  }

  const scratch = new Scratch()

  async function handleHttp({ region, marks }: HttpBatch): Promise<undefined> {
    const builder = http()
    for (const event of viewsOf({ region: scratch.copyOf(region), marks })) {
      const later = builder.event(event, add)
      if (later) await later
    }
    builder.keep()
    return flush()
  }

  return {
    takeNews() {
      const redacted = redactedSoFar()
      const total = redacted.reduce((sum, { count }) => sum + count, 0)
      const hasNew = total !== toldRedacted
      toldRedacted = total
      return {
        ...(hasNew && { redacted }),
        ...(named.length > 0 && { sessions: named.splice(0) }),
        ...(quotaDisk?.takeRefusal() && { trouble: quotaWords }),
      }
    },
    sealOld() {
      journal.sealOld()
      tell()
    },
    get tapeEnd() {
      return journal.end
    },
    openRequests: () => (isStdio ? builder : http().messages).openRequests(),
    toolHeaders: (tool) => httpBuilder?.messages.toolHeaders(tool),
    handle(message) {
      switch (message.kind) {
        case 'chunks':
          builder.chunks(message.batch, add, addPlain)
          return flush()
        case 'ended':
          return append(builder.ended(message.channel, message))
        case 'lost':
          return append(builder.lost(message.channel, message, message))
        case 'undelivered':
          return append(builder.undelivered(message.channel, message.deliveredBytes, message.why, message))
        case 'gate': {
          const entries = isStdio ? builder : http()
          return append(entries.gate(message.entry, message))
        }
        case 'http':
          return handleHttp(message.batch)
        case 'died': {
          const { why, losses, exchanges } = message
          append(builder.died(message, losses, message, why))
          if (exchanges.length > 0) http().resume(exchanges)
          return undefined
        }
        case 'http-lost':
          return append([http().lost(message, message.why, message)])
        case 'open-requests':
        case 'tool-headers':
          return undefined
        case 'close': {
          const { exitCode, redacted: before = [], ...wiretape } = message.end
          const { t, us } = now()
          const redacted = sumOf(before, redactedSoFar())
          const told = redacted.length === 0 ? wiretape : { ...wiretape, redacted }
          const said = guardClosing(redactor, told)
          const end = { t, exitCode, durationMs: Math.round(us / 1000), wiretape: said }
          full?.close(end)
          const report = journal.close(end)
          return { ...report, redacted }
        }
      }
    },
  }
}

const quotaWords =
  'the local quota is full of segments that are not shipped: recording stops until there is room, all messages pass'

/** Adds the redactions of this recording to those before it. */
function sumOf(before: readonly RuleCount[], here: readonly RuleCount[]): RuleCount[] {
  const counts = new Map<string, number>()
  for (const { rule, count } of [...before, ...here]) {
    counts.set(rule, (counts.get(rule) ?? 0) + count)
  }
  return [...counts].map(([rule, count]) => ({ rule, count }))
}
