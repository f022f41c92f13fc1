import { afterEach, describe, expect, it, vi } from 'vitest'
import { announceMissing, repeatedly } from '../../../src/cli/collect/nats-source.js'
import type { JetStreamStore } from '../../../src/ship/index.js'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

/** A bus with this many announcements that wait. */
function busWith(waiting: number, announceAgain: JetStreamStore['announceAgain']): JetStreamStore {
  const info = { num_pending: waiting, num_ack_pending: 0, ack_floor: { stream_seq: 0 } }
  const manager = {
    consumers: { info: async () => info },
    streams: { getMessage: async () => ({ time: new Date(0) }) },
  }
  const sealed = { name: 'WIRETAPE', subjects: 'wiretape.sealed.>' }
  return { manager, sealed, announceAgain } as unknown as JetStreamStore
}

describe('segments without an announcement', () => {
  it('are announced again every 5 minutes, or once in 6 hours while other announcements wait', async () => {
    const roundsOf = async (waiting: number): Promise<number> => {
      const rounds = new Set<string>()
      for (let minutes = 0; minutes < 360; minutes += 10) {
        vi.spyOn(Date, 'now').mockReturnValue(minutes * 60_000)
        await announceMissing(
          busWith(waiting, async (_before, round) => {
            rounds.add(round)
            return 0
          }),
          new AbortController().signal,
        )
      }
      return rounds.size
    }
    expect(await roundsOf(0)).toBe(36)
    expect(await roundsOf(1)).toBe(1)
  })

  it('are no longer looked for after 2 minutes, which does not count as none', async () => {
    vi.useFakeTimers()
    let isStopped = false
    const hanging = repeatedly(async (signal) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      isStopped = true
      return 0
    })
    const found = hanging.now().catch((error: unknown) => String(error))
    await vi.advanceTimersByTimeAsync(120_000)
    expect(await found).toContain('listing the bus took longer than 120 s')
    expect(isStopped).toBe(true)
    const failing = repeatedly(() => Promise.reject(new Error('no permission')))
    expect(await failing.now()).toBe(0)
  })
})
