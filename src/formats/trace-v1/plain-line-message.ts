import type { PlainMessage } from '../../model/index.js'
import type { PlainLine } from './plain-line.js'

/** A line in the form that the model reads. One object serves all lines. */
export class PlainLineMessage implements PlainMessage {
  kind: PlainMessage['kind'] = 'request'
  fromServer = false
  us = 0
  seq = 0
  sizeBytes = 0
  method = ''
  toolError = false
  bytes: Uint8Array = new Uint8Array(0)
  idStart = 0
  idEnd = 0
  corrStart = -1
  corrEnd = -1
  late = false
  conversationStart = -1
  conversationEnd = -1
  httpExchange = -1

  /** @param method its decoded text */
  read(bytes: Uint8Array, line: PlainLine, method: string): void {
    this.kind = line.kind
    this.fromServer = line.fromServer
    this.us = line.us
    this.seq = line.seq
    this.sizeBytes = line.rawEnd - line.rawStart
    this.method = method
    this.toolError = line.toolError
    this.bytes = bytes
    this.idStart = line.idStart
    this.idEnd = line.idEnd
    this.corrStart = line.corrStart
    this.corrEnd = line.corrEnd
    this.late = line.late
    this.conversationStart = line.conversationStart
    this.conversationEnd = line.conversationEnd
    this.httpExchange = line.httpExchange
  }
}
