import { randomUUID } from 'node:crypto'
import { GateFault } from './fault.js'
import type { Intercept } from './intercept.js'
import type { GatedWire } from './wire.js'
import type { Ledger } from './ledger.js'
import { createStdioValve, type StdioValve, type ValvePort } from './stdio-valve.js'

/** The two directions of a stdio transport. */
export interface StdioLanes {
  setValves(make: ((channel: 'in' | 'out', port: Omit<ValvePort, 'channel'>) => StdioValve) | undefined): void
  disconnect(why: string): void
}

/** Connects a stdio transport to the gate: valves are inserted while messages are held or changed. */
export function createStdioWire(lanes: StdioLanes, intercept: Intercept, ledger: Ledger): GatedWire {
  const valves = new Map<'in' | 'out', StdioValve>()
  const other = { in: 'out', out: 'in' } as const

  function makeValve(channel: 'in' | 'out', port: Omit<ValvePort, 'channel'>): StdioValve {
    const valve = createStdioValve(
      { ...port, channel },
      {
        mayConcern: (bytes, direction) => intercept.mayConcern(bytes, direction),
        offer: (offer) => intercept.offer(offer),
        isFull: () => intercept.isFull,
        ledger,
        answer(text, rule) {
          valves.get(other[channel])?.inject(text, { id: randomUUID(), rule })
        },
        unseen(why) {
          const sentence = `a line was forwarded without being held or changed: ${why} cannot be inspected`
          ledger.enter({ kind: 'note', text: sentence })
          intercept.unseen(sentence)
        },
        disconnect: (why) => lanes.disconnect(why),
      },
    )
    valves.set(channel, valve)
    return valve
  }

  function setGated(on: boolean): void {
    if (on === valves.size > 0) return
    if (on) return lanes.setValves(makeValve)
    for (const valve of valves.values()) valve.leave()
    valves.clear()
    lanes.setValves(undefined)
  }

  return {
    setGated,
    conversationFor: ({ conversation = '' }) => (conversation === '' ? '' : undefined),
    inject({ id, direction, text, rule }) {
      const isGated = valves.size > 0
      setGated(true)
      const valve = valves.get(direction === 'client_to_server' ? 'in' : 'out')
      if (!valve) throw new GateFault('no-peer', 'the receiver is not connected')
      valve.inject(text, { id, rule })
      // A valve that waits for a line end stays until the gate removes it.
      if (!isGated && !valve.isHolding) setGated(false)
      return {}
    },
  }
}
