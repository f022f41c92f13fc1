import { randomUUID } from 'node:crypto'
import { isAnswer } from '../model/index.js'
import { SseParser, idKey, readParts, type FrameText } from '../wire/index.js'
import type { HttpEntries } from './http-entries.js'
import { readSpoken } from './http-frame.js'
import { headersFor } from './http-headers.js'
import type { Head, HttpLanes, Post, Posted } from './http-lanes.js'
import type { ToolHeaders } from './tool-headers.js'
import type { Injection } from './wire.js'

type Own = Pick<Injection, 'id' | 'text' | 'rule' | 'like'>

/** The server's reaction to a message from wiretape. */
export interface Reaction {
  /** The response, if the message is a request and its HTTP response contains one. */
  readonly answer?: string
  /** Description of the HTTP response otherwise, for people. */
  readonly instead: string
}

/** Messages from wiretape to the server. */
export interface HttpPosts {
  send(like: Post, own: Own): Promise<Reaction>
  /** A response to a server's request, sent in place of the client. */
  sendBack(head: Head, text: string, rule: string | undefined): void
  /** Sends exact copies of a request. */
  repeat(
    head: Head,
    original: FrameText,
    how: { readonly text: string; readonly copies: number; readonly rule: string | undefined },
  ): void
}

export function createHttpPosts(lanes: HttpLanes, entries: HttpEntries, tools: ToolHeaders): HttpPosts {
  async function send(like: Post, { id, text, rule, like: original }: Own): Promise<Reaction> {
    const frame = readParts(text)
    const body = Buffer.from(text)
    const before = original && { frame: readParts(original.text), headers: original.headers }
    const known = await tools.known(before?.frame, frame)
    const headers = headersFor(like.headers, frame, body.length, known, before)
    const came = await lanes.post(like, headers, body, (exchange) => entries.own(exchange, id, rule))
    const answer = answerIn(came, frame.parts[0]!.envelope.id)
    return { ...(answer !== undefined && { answer }), instead: wordsOf(came) }
  }

  function sendUnwatched(like: Post, own: Own): void {
    send(like, own).catch(() => undefined)
  }

  return {
    send,
    sendBack(head, text, rule) {
      const like = lanes.talks.posts().findLast(({ conversation }) => conversation === head.conversation)
      if (like) sendUnwatched(like, { id: randomUUID(), text, rule })
    },
    repeat({ connection, conversation, path, headers }, { text: original }, { text, copies, rule }) {
      for (let n = 0; n < copies; n += 1) {
        const copy = { id: randomUUID(), text, rule, like: { text: original, headers } }
        sendUnwatched({ connection, conversation, path, headers }, copy)
      }
    },
  }
}

function textsIn({ body, contentType }: Posted): string[] {
  if (!body) return []
  return /^text\/event-stream\b/i.test(contentType)
    ? new SseParser().push(Buffer.concat([body, Buffer.from('\n\n')])).flatMap(({ data }) => data ?? [])
    : [Buffer.from(body).toString()]
}

/** Servers report, for example, an unknown session with an error that has no id. */
function wordsOf(came: Posted): string {
  const errors = textsIn(came).flatMap((text) => readSpoken(text)?.parts ?? [])
  const said = errors.find(({ envelope }) => envelope.errorMessage !== undefined)?.envelope.errorMessage
  const answered = `the server responded with status ${came.status}`
  return said === undefined ? `${answered} and no response` : `${answered}: ${said}`
}

function answerIn(came: Posted, wanted: string | undefined): string | undefined {
  if (wanted === undefined) return undefined
  return textsIn(came).find((text) =>
    readSpoken(text)?.parts.some(
      ({ envelope }) =>
        isAnswer(envelope) && envelope.id !== undefined && idKey(envelope.id) === idKey(wanted),
    ),
  )
}
