import type { Socket } from 'node:net'
import { encodeLine } from '../control-schema/index.js'
import { Connection } from './connection.js'
import { giveHeapRoom } from './heap-room.js'
import { createShare } from './share.js'
import { createTapeView } from './tape-view.js'
import type { Announcement, ControlHost, TapeSource } from './host.js'

/** Longest wait per connection when the capture ends. */
const lastWordsMs = 500
/** Limit of connections: each costs a file descriptor, and many systems allow 1,024 per process. */
const mostConnections = 256

/** All programs attached to a capture. */
export interface Audience {
  take(socket: Socket): void
  announce(announcement: Announcement): void
  tapeGrew(): void
  /** Called once everything is on the tape and announced. */
  finish(): Promise<void>
}

export function createAudience(host: ControlHost, source: TapeSource): Audience {
  giveHeapRoom()
  const tape = createTapeView(source)
  const share = createShare()
  const lines = { unfinishedBytes: 0 }
  const connections = new Set<Connection>()
  let ended = false

  function count(): void {
    let screens = 0
    let onlookers = 0
    for (const { role } of connections) {
      if (role === 'screen') screens += 1
      else if (role === 'onlooker') onlookers += 1
    }
    host.attended({ screens, onlookers })
  }

  return {
    take(socket) {
      if (ended) return void socket.destroy()
      if (connections.size >= mostConnections) {
        const message = `${mostConnections} programs are already attached, which is the limit`
        return void socket.end(encodeLine({ type: 'refused', code: 'full', message }), () => socket.destroy())
      }
      const connection = new Connection(socket, { host, tape, share, lines, onChange: count })
      connections.add(connection)
      socket.once('close', () => connections.delete(connection))
    },
    announce({ event, to }) {
      for (const connection of connections) {
        if (connection.subscribed && (to === 'all' || connection.role === to)) connection.send(event)
      }
    },
    tapeGrew() {
      if (connections.size === 0) return
      tape.grew()
      share.passed()
      for (const connection of connections) if (connection.subscribed) connection.tapeGrew()
    },
    async finish() {
      ended = true
      tape.grew()
      await Promise.all([...connections].map((connection) => connection.finish(lastWordsMs)))
      await tape.close()
    },
  }
}
