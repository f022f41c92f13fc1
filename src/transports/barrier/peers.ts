import type { Socket } from 'node:net'
import { eachRow, keyOf, portText, type End, type TableName } from './socket-table.js'
import type { SocketTables } from './system-tables.js'

/** The user of a connection: a uid, or `unknown` when it cannot be found out. */
export type Peer = number | 'unknown'

export interface Peers {
  /** False where the system does not report the user of a local connection. */
  readonly tells: boolean
  /** Whether the user of this connection is known or being looked up. */
  knows(socket: Socket): boolean
  /**
   * Looks up the user of a connection without blocking the thread. Concurrent lookups share one reading of the
   * tables. Resolves when `of` has the answer; never rejects.
   */
  look(socket: Socket): Promise<void>
  /** `unknown` before `look` has resolved. */
  of(socket: Socket): Peer
}

/** A connection that is being looked up. */
interface Search {
  /** Readings of the tables that are left. */
  looks: number
  found: Peer | undefined
  readonly done: () => void
}

/** The kernel writes a table in pieces: a row can be missed while other rows disappear. */
const mostLooks = 3
const names = ['tcp', 'tcp6'] as const

/** @param listening our own end; a table that does not list it under our own uid is not usable */
export function createPeers(tables: SocketTables, uid: number, listening: End): Peers {
  const known = new WeakMap<Socket, Peer>()
  const waiting = new Map<Socket, Search>()
  const needle = portText(listening.port)
  let running = false

  function settle(socket: Socket, peer: Peer): void {
    known.set(socket, peer)
    waiting.get(socket)?.done()
    waiting.delete(socket)
  }

  /** Reads the tables until all lookups are over. Connections that arrive during a reading wait for the next. */
  async function run(): Promise<void> {
    running = true
    // All connections of one turn of the event loop share the first reading.
    await new Promise(setImmediate)
    while (waiting.size > 0) {
      const round = new Map(waiting)
      await lookOnce(round).catch(() => undefined)
      for (const [socket, search] of round) {
        search.looks -= 1
        if (search.found !== undefined) settle(socket, isOpen(socket) ? search.found : 'unknown')
        else if (search.looks === 0) settle(socket, 'unknown')
      }
    }
    running = false
  }

  /** Looks up all connections in one reading, which ends as soon as every row is found. */
  async function lookOnce(round: ReadonlyMap<Socket, Search>): Promise<void> {
    let missing = round.size
    for (const name of names) {
      const wanted = new Map<string, Search>()
      for (const [socket, search] of round) {
        const key = search.found === undefined ? peerKey(name, socket) : undefined
        if (key !== undefined) wanted.set(key, search)
      }
      if (wanted.size === 0) continue
      for await (const rows of tables.read(name)) {
        eachRow(rows, needle, (key, uid) => {
          const search = wanted.get(key)
          if (!search) return
          if (search.found === undefined) missing -= 1
          // A row can be read twice while others disappear; both readings agree.
          search.found = uid === 'any' || (search.found ?? uid) !== uid ? 'unknown' : uid
        })
        if (missing === 0) return
      }
    }
  }

  return {
    tells: names.some((name) => lists(tables.now(name), needle, keyOf(name, listening, undefined), uid)),
    knows: (socket) => known.has(socket) || waiting.has(socket),
    look(socket) {
      return new Promise((done) => {
        waiting.set(socket, { looks: mostLooks, found: undefined, done })
        if (!running) void run()
      })
    },
    of: (socket) => known.get(socket) ?? 'unknown',
  }
}

function lists(
  table: Iterable<Buffer>,
  needle: string,
  wanted: string | undefined,
  wantedUid: number,
): boolean {
  let found = false
  for (const rows of table) {
    eachRow(rows, needle, (key, uid) => {
      if (key === wanted && uid === wantedUid) found = true
    })
    if (found) return true
  }
  return false
}

/** The row of the peer's socket, with the two ends swapped. */
function peerKey(name: TableName, socket: Socket): string | undefined {
  const { remoteAddress, remotePort = 0, localAddress, localPort = 0 } = socket
  if (remoteAddress === undefined || localAddress === undefined) return undefined
  return keyOf(name, { address: remoteAddress, port: remotePort }, { address: localAddress, port: localPort })
}

/** The parts of Node's socket handle that are used here. */
interface Handle {
  getpeername?(out: object): number
}

/**
 * Whether a connection is still open. After a reset, another process may have a connection with the same ports, and
 * the row belongs to that one. `remotePort` cannot show this, because Node caches it.
 */
function isOpen(socket: Socket): boolean {
  const { _handle: handle } = socket as unknown as { readonly _handle?: Handle | null }
  return !handle?.getpeername || handle.getpeername({}) === 0
}
