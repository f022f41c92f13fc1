import type { InformationEvent, ServerResponse } from 'node:http'

/** Forwards an informational response (103 and similar), for which Node has no function. They are optional. */
export function passInformation(
  response: ServerResponse,
  { statusCode, statusMessage, rawHeaders }: InformationEvent,
): void {
  // Only the response whose turn it is has a socket.
  if (statusCode === 100 || response.headersSent || !response.socket) return
  const lines = rawHeaders.map((word, n) => (n % 2 === 0 ? `${word}: ` : `${word}\r\n`)).join('')
  response.socket.write(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines}\r\n`, 'latin1')
}
