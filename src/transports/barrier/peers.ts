import fs from 'node:fs'
import type { Socket } from 'node:net'
import { eachRow, keyOf, type End, type TableName } from './socket-table.js'

/** Whose a connection is: a uid, or not to be known. */
export type Peer = number | 'unknown'

/** How a system tells whose the sockets of its own network are. Another one takes its place in tests. */
export interface SocketTables {
  /** '' where there is none. */
  read(name: TableName): string
}

export interface Peers {
  /** False where the system does not say whose a local connection is. */
  readonly tells: boolean
  connected(socket: Socket): void
  /** Looked up once a connection. */
  of(socket: Socket): Peer
}

/** The kernel writes a table piece by piece: a row may be missed while other rows go. */
const mostLooks = 3
const names = ['tcp', 'tcp6'] as const

/** @param listening our own end: a table that does not list it under our own uid tells nothing */
export function createPeers(tables: SocketTables, uid: number, listening: End): Peers {
  const known = new WeakMap<Socket, Peer>()
  /** Connected, and not looked up yet: those that came together share one reading of the tables. */
  const waiting = new Set<Socket>()

  /** Looks up all that wait, with one reading. What is not found stays. */
  function look(): void {
    for (const name of names) {
      if (waiting.size === 0) return
      const wanted = new Map<string, Socket>()
      for (const socket of waiting) {
        const key = peerKey(name, socket)
        if (key !== undefined) wanted.set(key, socket)
      }
      eachRow(tables.read(name), (key, uid) => {
        const socket = wanted.get(key)
        if (!socket) return
        // A row that is read twice while others go says the same twice.
        const before = waiting.delete(socket) ? uid : known.get(socket)
        known.set(socket, before === uid && uid !== 'any' ? uid : 'unknown')
      })
    }
  }

  return {
    tells: names.some((name) => lists(tables.read(name), keyOf(name, listening, undefined), uid)),
    connected(socket) {
      if (known.has(socket) || waiting.has(socket)) return
      waiting.add(socket)
      socket.once('close', () => waiting.delete(socket))
    },
    of(socket) {
      for (let looks = 0; looks < mostLooks && waiting.has(socket); looks += 1) look()
      if (waiting.delete(socket)) known.set(socket, 'unknown')
      return known.get(socket) ?? 'unknown'
    },
  }
}

function lists(table: string, wanted: string | undefined, wantedUid: number): boolean {
  let found = false
  eachRow(table, (key, uid) => {
    if (key === wanted && uid === wantedUid) found = true
  })
  return found
}

/** The row of the peer's socket, which sees both ends the other way round. */
function peerKey(name: TableName, socket: Socket): string | undefined {
  const { remoteAddress, remotePort = 0, localAddress, localPort = 0 } = socket
  if (remoteAddress === undefined || localAddress === undefined) return undefined
  return keyOf(name, { address: remoteAddress, port: remotePort }, { address: localAddress, port: localPort })
}

/** The tables of this process, where the system has them and its uids mean something. */
export function systemTables(): SocketTables {
  const isUsable = process.platform === 'linux' && !isUnmapped()
  return { read: (name) => (isUsable ? readIfThere(`/proc/self/net/${name}`) : '') }
}

/** Whether our own uid is the one by which a user namespace shows every user that it does not know. */
function isUnmapped(): boolean {
  const overflow = Number(readIfThere('/proc/sys/kernel/overflowuid') || '65534')
  return process.geteuid?.() === overflow && !/^ *0 +0 +4294967295$/m.test(readIfThere('/proc/self/uid_map'))
}

function readIfThere(path: string): string {
  try {
    return fs.readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
