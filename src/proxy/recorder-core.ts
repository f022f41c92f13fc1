import {
  type EndRecord,
  type MetaRecord,
  type OpenRequest,
  type RuleCount,
  type TapeRecord,
} from '../model/index.js'
import {
  createQuotaDisk,
  Journal,
  SegmentFile,
  realDisk,
  type Disk,
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
import { HttpBatchWalk, type HttpBatch } from './http-batch.js'
import type { OpenExchange } from './open-exchanges.js'
import type { LineTaker } from './plain-frames.js'
import { RecordBuilder } from './record-builder.js'
import type { Numbers } from './message-numbers.js'
import { Scratch } from './region-pool.js'
import { createRecordGuard, guardClosing, type RecordGuard } from './record-guard.js'
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
export class RecorderCore {
  readonly #init: RecorderInit
  readonly #redactor: Redactor
  readonly #numbers: Numbers
  readonly #builder: RecordBuilder
  readonly #isStdio: boolean
  #httpBuilder: HttpBuilder | undefined
  readonly #named: NamedSession[] = []
  readonly #watched: Conversations
  readonly #disk: Disk
  readonly #full: Journal | undefined
  readonly #journal: Journal
  #toldRedacted = 0
  #toldStopMs = -Infinity
  readonly #guard: RecordGuard
  /** A strict tape has other lines, and its second tape has everything: both need full records. */
  readonly #plain: LineTaker | undefined
  readonly #scratch = new Scratch()

  readonly #add = (record: TapeRecord): void => {
    const guarded = this.#guard.take(record)
    this.#full?.add(guarded)
    this.#journal.add(guarded)
  }

  constructor(init: RecorderInit, redactor: Redactor) {
    this.#init = init
    this.#redactor = redactor
    const { resume } = init
    this.#numbers = { next: resume?.next ?? 0 }
    this.#builder = new RecordBuilder(redactor, this.#numbers, resume)
    this.#isStdio = init.wire === 'pipes'
    const talks = createConversations(init.conversationKey)
    for (const named of resume?.sessions ?? []) talks.begin(named.session, named)
    this.#watched = {
      of: (from, session) => talks.of(from, session),
      begin: (session, { connection, origin, conversation }) => {
        if (!talks.begin(session, { connection, conversation, ...(origin !== undefined && { origin }) }))
          return false
        this.#named.push({ session, connection, conversation, ...(origin !== undefined && { origin }) })
        return true
      },
    }
    const bareDisk = init.state ? watchedDisk(realDisk, init.state) : realDisk
    this.#disk = init.quota ? createQuotaDisk(bareDisk, init.quota) : bareDisk
    this.#full = init.full && this.#journalOf(init.full, { disk: this.#disk, now: () => this.#now() }, 0)
    this.#journal = this.#journalOf(
      init.tape,
      {
        disk: this.#disk,
        strict: init.strict,
        now: () => this.#now(),
        ...(init.maxBytes !== undefined && { maxBytes: init.maxBytes }),
        ...(init.maxFiles !== undefined && { maxFiles: init.maxFiles }),
        ...(init.sealAfterMs !== undefined && { sealAfterMs: init.sealAfterMs }),
      },
      undefined,
    )
    this.#tell()
    this.#guard = createRecordGuard(redactor)
    this.#plain = init.strict || this.#full ? undefined : this.#journal
  }

  /** Changes since the last call. */
  takeNews(): {
    readonly redacted?: readonly RuleCount[]
    readonly sessions?: readonly NamedSession[]
    /** A problem that the user should know. */
    readonly trouble?: string
  } {
    const redacted = this.#redactedSoFar()
    const total = redacted.reduce((sum, { count }) => sum + count, 0)
    const hasNew = total !== this.#toldRedacted
    this.#toldRedacted = total
    return {
      ...(hasNew && { redacted }),
      ...(this.#named.length > 0 && { sessions: this.#named.splice(0) }),
      ...this.#takeStop(),
    }
  }

  /** Reported at most once a minute. */
  #takeStop(): { readonly trouble?: string } {
    const why = this.#journal.stopped ?? this.#full?.stopped
    if (why === undefined || performance.now() - this.#toldStopMs < tellAgainMs) return {}
    this.#toldStopMs = performance.now()
    const until = why.isFull ? 'there is room' : 'it can be written again'
    return { trouble: `${why.reason}: recording stops until ${until}, all messages pass` }
  }

  /** Closes an old segment. Called periodically. */
  sealOld(): void {
    this.#journal.sealOld()
    this.#tell()
  }

  /** The current end of the tape. */
  get tapeEnd(): TapeEnd | undefined {
    return this.#journal.end
  }

  openRequests(): OpenRequest[] {
    return (this.#isStdio ? this.#builder : this.#http().messages).openRequests()
  }

  toolHeaders(tool: string): readonly MirroredArgument[] | undefined {
    return this.#httpBuilder?.messages.toolHeaders(tool)
  }

  /** A promise when decoding is asynchronous. The next message must wait for it. */
  handle(message: RecorderMessage): RecordingReport | undefined | Promise<undefined> {
    switch (message.kind) {
      case 'chunks':
        this.#builder.chunks(message.batch, this.#add, this.#plain)
        return this.#flush()
      case 'ended':
        return this.#append(this.#builder.ended(message.channel, message))
      case 'lost':
        return this.#append(this.#builder.lost(message.channel, message, message))
      case 'undelivered': {
        const { channel, deliveredBytes, why } = message
        return this.#append(this.#builder.undelivered(channel, deliveredBytes, why, message))
      }
      case 'gate': {
        const entries = this.#isStdio ? this.#builder : this.#http()
        return this.#append(entries.gate(message.entry, message))
      }
      case 'http':
        return this.#handleHttp(message.batch)
      case 'died': {
        const { why, losses, exchanges } = message
        this.#append(this.#builder.died(message, losses, message, why))
        if (exchanges.length > 0) this.#http().resume(exchanges)
        return undefined
      }
      case 'http-lost':
        return this.#append([this.#http().lost(message, message.why, message)])
      case 'open-requests':
      case 'tool-headers':
        return undefined
      case 'close': {
        const { exitCode, redacted: before = [], ...wiretape } = message.end
        const { t, us } = this.#now()
        const redacted = sumOf(before, this.#redactedSoFar())
        const told = redacted.length === 0 ? wiretape : { ...wiretape, redacted }
        const said = guardClosing(this.#redactor, told)
        const end = { t, exitCode, durationMs: Math.round(us / 1000), wiretape: said }
        this.#full?.close(end)
        const report = this.#journal.close(end)
        return { ...report, redacted }
      }
    }
  }

  #http(): HttpBuilder {
    const isResumed = this.#init.resume !== undefined
    return (this.#httpBuilder ??= createHttpBuilder(
      this.#redactor,
      this.#watched,
      this.#numbers,
      isResumed,
      this.#plain && ((line, ids, place) => this.#journal.addPlain(line, ids, this.#guard.place(place))),
    ))
  }

  #now(): { t: string; us: number } {
    const us = Math.round(Number(process.hrtime.bigint() - this.#init.startedNs) / 1000)
    return { t: new Date().toISOString(), us }
  }

  #journalOf(
    { path, fd, sizeBytes }: RecorderInit['tape'],
    options: JournalOptions,
    segment: number | undefined,
  ): Journal {
    const { meta, resume } = this.#init
    return resume
      ? Journal.after(path, meta, options, { ...resume, segment: segment ?? resume.segment })
      : new Journal(new SegmentFile(path, fd, sizeBytes, this.#disk), meta, options)
  }

  #redactedSoFar(): RuleCount[] {
    return sumOf(this.#init.resume?.redacted ?? [], this.#redactor.report())
  }

  #tell(): void {
    if (!this.#init.state) return
    const { messages, gaps, lost } = this.#journal.report()
    const { recorded, shift } = this.#builder
    const { segment } = this.#journal.end
    const { next } = this.#numbers
    tellProgress(this.#init.state, { next, segment, messages, gaps, lost, recorded, shift })
  }

  #flush(): undefined {
    this.#full?.flush()
    this.#journal.flush()
    this.#tell()
  }

  #append(records: readonly TapeRecord[]): undefined {
    for (const record of records) this.#add(record)
    this.#flush()
  }

  async #handleHttp({ region, marks }: HttpBatch): Promise<undefined> {
    const builder = this.#http()
    const walk = new HttpBatchWalk({ region: this.#scratch.copyOf(region), marks })
    while (walk.next()) {
      const later = builder.event(walk.event(asView), this.#add)
      if (later) await later
    }
    builder.keep()
    return this.#flush()
  }
}

const asView = (bytes: Buffer): Buffer => bytes

const tellAgainMs = 60_000

/** Adds the redactions of this recording to those before it. */
function sumOf(before: readonly RuleCount[], here: readonly RuleCount[]): RuleCount[] {
  const counts = new Map<string, number>()
  for (const { rule, count } of [...before, ...here]) {
    counts.set(rule, (counts.get(rule) ?? 0) + count)
  }
  return [...counts].map(([rule, count]) => ({ rule, count }))
}
