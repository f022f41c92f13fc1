import type { InformationEvent, ServerResponse } from 'node:http'

/** Passes an informational answer (103 and the like) on, which Node has no way to send. They may be left out. */
export function passInformation(
  response: ServerResponse,
  { statusCode, statusMessage, rawHeaders }: InformationEvent,
): void {
  // Only the answer whose turn it is has a socket.
  if (statusCode === 100 || response.headersSent || !response.socket) return
  const lines = rawHeaders.map((word, n) => (n % 2 === 0 ? `${word}: ` : `${word}\r\n`)).join('')
  response.socket.write(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines}\r\n`, 'latin1')
}
