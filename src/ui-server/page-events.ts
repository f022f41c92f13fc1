import type { ServerResponse } from 'node:http'
import type { SessionEvent } from './session-event.js'
import { writeAtPace } from './send-file.js'

/** Unread characters after which a page gets no more notifications. */
const mostWaiting = 4 * 1024 * 1024
/** Unread characters after which a page is disconnected; a reload gets the current state. */
const mostUnread = 256 * 1024 * 1024

/** Writes the events of a session at the pace of the page. A page that is far behind misses notifications; the recording has them. */
export function eventsTo(response: ServerResponse): (event: SessionEvent) => void {
  const waiting: string[] = []
  let waitingLength = 0
  let isWriting = false
  let isOver = false
  async function write(): Promise<void> {
    isWriting = true
    while (waiting.length > 0 && !response.destroyed) {
      const line = waiting.shift()!
      waitingLength -= line.length
      await writeAtPace(response, line)
    }
    isWriting = false
    if (isOver) response.end()
  }
  return (event) => {
    if (isOver || response.destroyed) return
    if (event.type === 'notification' && waitingLength > mostWaiting) return
    const line = `${JSON.stringify(event)}\n`
    waiting.push(line)
    waitingLength += line.length
    // Questions come and go at the pace of the server.
    if (waitingLength > mostUnread) return void response.destroy()
    // The capture of an ended session has ended too.
    isOver = event.type === 'ended'
    if (!isWriting) void write()
  }
}
