import { resolve } from 'node:path'
import {
  checkPath,
  createFold,
  createRowNumbers,
  type Counts,
  type Diagnostic,
  type Direction,
  type MessageKind,
  type MessageRecord,
  type Session,
  type TapeRecord,
} from '../model/index.js'
import { idKey } from '../wire/index.js'
import { openSegments } from './read-file.js'

/** One message of a recording. */
export interface RecordedMessage {
  /** 0-based, both directions together, as `wiretape inspect` prints it. */
  readonly seq: number
  readonly direction: Direction
  /** `request`, `notification`, `result`, `error`, or `invalid`: JSON without valid JSON-RPC. */
  readonly kind: MessageKind
  readonly method?: string
  /** Tool or prompt name, resource URI. */
  readonly name?: string
  /** Exact JSON text of the id: `1` and `"1"` are two ids. */
  readonly id?: string
  /** Time on the wire, ISO 8601, UTC. */
  readonly time: string
  /** Microseconds since the session began, on a clock that never jumps. */
  readonly us: number
  /** The client's conversation, where the recording holds several. */
  readonly conversation?: string
  /** Exact text, as it was on the wire; secrets replaced. */
  readonly text: string
  /**
   * Parses the message, anew on each call.
   *
   * @returns the result of JSON.parse, which loses digits of large numbers
   */
  payload(): unknown
}

/** A request and its first response. */
export interface RecordedExchange {
  readonly request: RecordedMessage
  /** Absent without a response. */
  readonly answer?: RecordedMessage
  /** Microseconds until the response, without the time for which a person held the request. */
  readonly latencyUs?: number
}

/** A recording that can be read any number of times. None of it is held in memory. */
export interface ReadRecording {
  /** Id of its format, such as `trace-v1`. */
  readonly format: string
  readonly sessions: readonly Session[]
  readonly counts: Counts
  /** Problems of the file, at most 1,000; a bad line costs only itself. */
  readonly problems: readonly Diagnostic[]
  /** In the order of the wire. */
  messages(): AsyncIterable<RecordedMessage>
  /** In the order of their responses; unanswered ones come last. */
  exchanges(): AsyncIterable<RecordedExchange>
}

const mostProblems = 1_000

/**
 * Opens a recording of any format and reads it once; for a rotated one, all segments, whichever is given.
 *
 * @throws WiretapeError `unreadable`, `not-a-recording`, `unsupported-version`, `usage` for no path
 */
export async function readRecording(path: string): Promise<ReadRecording> {
  checkPath('recording', path)
  const files = await openSegments(resolve(path))
  const problems: Diagnostic[] = []
  const report = (problem: Diagnostic): void =>
    void (problems.length < mostProblems && problems.push(problem))
  async function* read(into: (problem: Diagnostic) => void): AsyncIterable<TapeRecord> {
    for (const file of files) yield* file.format.read({ bytes: () => file.bytes(file.sizeBytes) }, into)
  }

  const fold = createFold(idKey)
  for await (const record of read(report)) fold.push(record)
  const { entries } = fold

  async function* rows(): AsyncGenerator<{ row: number; message: RecordedMessage }, void, undefined> {
    const numbers = createRowNumbers()
    for await (const record of read(() => undefined)) {
      const { first } = numbers(record)
      if (record.type !== 'message') continue
      for (let part = 0; part < record.parts.length; part += 1) {
        const row = first + part
        yield { row, message: messageOf(record, part, entries.seq(row), entries.us(row)) }
      }
    }
  }

  return {
    format: files[0]!.format.id,
    sessions: fold.sessions,
    counts: fold.counts(),
    problems,
    async *messages() {
      for await (const { message } of rows()) yield message
    },
    async *exchanges() {
      const open = new Map<number, RecordedMessage>()
      for await (const { row, message } of rows()) {
        if (message.kind === 'request') open.set(row, message)
        const request = open.get(entries.peer(row))
        if (!request || (message.kind !== 'result' && message.kind !== 'error')) continue
        open.delete(entries.peer(row))
        const latencyUs = entries.latencyUs(row)
        yield { request, answer: message, ...(latencyUs !== undefined && { latencyUs }) }
      }
      for (const request of open.values()) yield { request }
    },
  }
}

function messageOf(record: MessageRecord, i: number, seq: number, us: number): RecordedMessage {
  const { envelope, start, end } = record.parts[i]!
  const text = record.raw.slice(start, end)
  return {
    seq,
    direction: record.direction,
    kind: envelope.kind,
    ...(envelope.method !== undefined && { method: envelope.method }),
    ...(envelope.subject !== undefined && { name: envelope.subject }),
    ...(envelope.id !== undefined && { id: envelope.id }),
    time: record.t,
    us,
    ...(record.conversation !== undefined && { conversation: record.conversation }),
    text,
    payload: () => JSON.parse(text) as unknown,
  }
}
