import type { IncomingMessage, ServerResponse } from 'node:http'

/** A handler of HTTP requests. */
export interface HttpService {
  /** Path announced to clients. */
  readonly path: string
  /** @param prefix first part of the client's path to this service */
  handle(request: IncomingMessage, response: ServerResponse, prefix: string): Promise<void>
  close(): Promise<void>
}
