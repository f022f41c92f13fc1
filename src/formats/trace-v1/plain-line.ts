/**
 * A message line in the recorder's most common form: the data for rows, as offsets in its bytes. One object is
 * reused for all lines. Missing offsets are -1. Texts are ASCII without escapes and exclude their quotes, except
 * for the JSON-RPC id, which is exact text.
 */
export class PlainLine {
  kind: 'request' | 'notification' | 'result' | 'error' = 'request'
  fromServer = false
  timeStart = -1
  timeEnd = -1
  rawStart = -1
  rawEnd = -1
  /** The recorder's own id. */
  idStart = -1
  idEnd = -1
  corrStart = -1
  corrEnd = -1
  late = false
  seq = -1
  us = -1
  rpcIdStart = -1
  rpcIdEnd = -1
  methodStart = -1
  methodEnd = -1
  subjectStart = -1
  subjectEnd = -1
  /** Exact text of `params.arguments`. */
  argumentsStart = -1
  argumentsEnd = -1
  /** Exact text of the progress token that a request offers. */
  tokenStart = -1
  tokenEnd = -1
  codeStart = -1
  codeEnd = -1
  messageStart = -1
  messageEnd = -1
  toolError = false
  redacted = false
  conversationStart = -1
  conversationEnd = -1
  http = false
  /** 0 for none. */
  httpStatus = 0
  /** Number of the HTTP exchange; -1 for none. */
  httpExchange = -1
  sse = false
  /** It says how the frame ended. */
  frameEnd = false
  /** More members than these relate it to other messages, or tell its sender. */
  isTelling = false
  /** The message has a member whose name begins with `timestamp`. */
  isTimed = false
  /** Some JSON readers may refuse the message (`unusualValues`). */
  unusual = false
  /** The message in the output's form (`PlainForm`), in memory of `PlainLines`. */
  encodedStart = -1
  encodedEnd = -1
  /** That form is the whole entry of a session file, after the end of the entry before it (`EntryForm`). */
  isEntry = false
  /** Of an open entry, the end of its first part; -1 for others. */
  openEnd = -1

  /** It has an id, a number and a time, like all lines of wiretape's recorder. */
  get isNamed(): boolean {
    return this.idStart >= 0 && this.seq >= 0 && this.us >= 0
  }
}
