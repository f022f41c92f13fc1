import type { IncomingMessage, ServerResponse } from 'node:http'

/** What answers HTTP requests. */
export interface HttpService {
  /** Path that clients are told. */
  readonly path: string
  /** @param prefix first part of the path by which the client reaches us */
  handle(request: IncomingMessage, response: ServerResponse, prefix: string): Promise<void>
  close(): Promise<void>
}
