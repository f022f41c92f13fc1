import { table } from '../store/state.js'

/** Calls drawn beside each other while open; further ones share the last place. */
export const mostBeside = 4
/** Maximum number of lanes with bars. */
const mostLanes = 7
const step = 4096

/** The open calls at each row of a diagram. */
export interface Activations {
  /** Four bits per lane for calls to its server, and above them four for calls to the client. */
  readonly open: Uint32Array
  /** Place of the call that a row begins or ends, from 1; 0 for other rows. */
  readonly place: Uint8Array
}

/** The bit of a call in the group of its receiver. */
export function bitOf(lane: number, fromServer: boolean, place: number): number {
  const group = fromServer ? mostLanes : lane
  return (1 << (group * mostBeside + place - 1)) >>> 0
}

/** @param rows in the order of the diagram */
export function* activationsOf(rows: Int32Array): Generator<void, Activations> {
  const open = new Uint32Array(rows.length)
  const place = new Uint8Array(rows.length)
  const isIn = new Uint8Array(table.length)
  for (const row of rows) isIn[row] = 1
  /** Places of open requests, and the number of requests sharing each. */
  const places = new Map<number, number>()
  const shares = new Map<number, number>()
  let mask = 0
  for (let i = 0; i < rows.length; i += 1) {
    if (i % step === 0) yield
    const row = rows[i]!
    const kind = table.kind(row)
    const lane = table.lane(row)
    const peer = table.peer(row)
    const isBeginning = kind === 'request' && peer >= 0 && isIn[peer] === 1
    const isEnd = (kind === 'result' || kind === 'error') && places.has(peer)
    if ((isBeginning || isEnd) && lane < mostLanes) {
      const fromServer = table.has(isEnd ? peer : row, 'fromServer')
      if (isBeginning) {
        let free = 1
        while (free < mostBeside && (mask & bitOf(lane, fromServer, free)) !== 0) free += 1
        const bit = bitOf(lane, fromServer, free)
        mask |= bit
        shares.set(bit, (shares.get(bit) ?? 0) + 1)
        places.set(row, free)
        place[i] = free
      } else {
        place[i] = places.get(peer)!
        places.delete(peer)
        const bit = bitOf(lane, fromServer, place[i]!)
        const left = shares.get(bit)! - 1
        shares.set(bit, left)
        open[i] = mask >>> 0
        if (left === 0) mask &= ~bit
        continue
      }
    }
    open[i] = mask >>> 0
  }
  return { open, place }
}
