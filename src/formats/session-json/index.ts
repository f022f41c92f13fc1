import type { Format } from '../format.js'
import { readSession, readSessionEnds } from './read.js'
import { writeSession } from './write.js'

export { createDroppedFrames } from './dropped.js'
export { viewSession, type SessionRow } from './rows.js'

/** One JSON document with a whole session, used by security testers (docs/session-file.md). */
export const sessionJson: Format = {
  id: 'session-json',
  title: 'session file (JSON)',
  extension: '.json',
  detect,
  borrows: true,
  read: readSession,
  readEnds: readSessionEnds,
  write: (recording, report) => writeSession(recording, report),
}

/** The same with every payload on one line, for `--compact`. */
export const compactSession = {
  id: 'session-json',
  title: 'session file (JSON, compact)',
  detect: () => 0,
  write: (recording, report) => writeSession(recording, report, { compact: true }),
} satisfies Format

const names = ['id', 'started_at', 'ended_at', 'transport', 'server_command', 'server_url', 'metadata']

/** An object with `messages` and some of the members that precede it. */
function detect(head: Uint8Array): number {
  const text = new TextDecoder().decode(head)
  if (!/^\ufeff?\s*\{/.test(text)) return 0
  // A message on a line of a tape may contain a session file.
  if (/^\ufeff?\s*\{\s*"(?:v|t|type|dir|raw)"\s*:/.test(text)) return 0
  // Messages have members of other names, except for `transport`.
  const start = text.slice(0, 16_384)
  const found = names.filter((name) => start.includes(`"${name}"`)).length
  const hasMessages = /"messages"\s*:\s*\[/.test(text)
  if (/"proxy_id"\s*:/.test(text) && hasMessages) return 0.95
  if (/"started_at"\s*:/.test(start) && found >= 3) return 0.9
  return hasMessages && found >= 3 ? 0.7 : 0
}
