import { describe, expect, it } from 'vitest'
import type { HeldEvent } from '../../src/control-schema/index.js'
import { call, createScreen, result } from './stage.js'

const t = '2026-01-01T00:00:00.500Z'

function heldEvent(message: string, raw: object, more: Partial<HeldEvent> = {}): HeldEvent {
  const direction = 'method' in raw ? 'client_to_server' : 'server_to_client'
  return { type: 'held', message, direction, text: JSON.stringify(raw), t, reason: 'hold', ...more }
}

/** A screen on a capture whose tape is limited to trace v1. */
function strict(): ReturnType<typeof createScreen> & { said: (dir: 'in' | 'out', raw: object) => void } {
  const screen = createScreen({ strict: true, rows: 50 })
  return Object.assign(screen, {
    said: (dir: 'in' | 'out', raw: object) => screen.line(JSON.stringify({ t, dir, raw })),
  })
}

const released = { type: 'released', cause: 'screen' } as const

describe('on a tape of --strict-v1, what is held', () => {
  it('is a row that a person decides about; the message that goes on is a row of its own', () => {
    const screen = strict()
    screen.event({ type: 'live' })
    screen.said('in', call(1, 'before'))
    screen.event(heldEvent('h1', call(2, 'search', { token: 'secret' })))
    expect(screen.marked()).toMatch(/▶ ⏸ tools\/call search {2}token: "secret" +2/)
    screen.press('f')
    expect(screen.effects()).toEqual([
      { kind: 'command', command: { type: 'forward', message: 'h1' }, as: 'forward' },
    ])
    screen.press('m')
    expect(screen.state.editor?.message).toBe('h1')
    expect(screen.picture().join('\n')).toContain('"secret"')
    screen.press('esc', 'd')
    expect(screen.effects()).toMatchObject([{ command: { type: 'drop', message: 'h1' } }])
    screen.event({ ...released, message: 'h1', outcome: 'forwarded' })
    screen.said('in', call(2, 'search', { token: '[REDACTED]' }))
    screen.said('out', result(2, 'found'))
    const picture = screen.picture().join('\n')
    expect(picture.match(/▶.*tools\/call search/g)).toHaveLength(2)
    expect(picture).not.toContain('⏸')
    expect(picture).toMatch(/◀ +result of tools\/call search {2}found +2/)
    screen.press('k')
    expect(screen.picture().join('\n')).toContain('[REDACTED]')
  })

  it.each(['dropped', 'answered'] as const)('stays in the list when it is %s', (outcome) => {
    const screen = strict()
    screen.event({ type: 'live' })
    screen.event(heldEvent('h1', call(2, 'search')))
    screen.event({ ...released, message: 'h1', outcome })
    expect(screen.marked()).toMatch(/▶ ✕ tools\/call search/)
    screen.said('in', call(2, 'search'))
    expect(screen.picture().join('\n')).toMatch(/▶ +tools\/call search/)
  })

  it('before a screen came stands behind all that was said before', () => {
    const screen = strict()
    screen.event(heldEvent('h1', call(1, 'first')))
    screen.event(heldEvent('h2', call(2, 'second')))
    screen.said('in', call(0, 'earlier'))
    // One of them went on before its screen had caught up.
    screen.event({ ...released, message: 'h1', outcome: 'forwarded' })
    screen.said('in', call(1, 'first'))
    screen.event({ type: 'live' })
    const list = screen.picture().filter((line) => /▶.*tools\/call/.test(line))
    expect(list.map((line) => /call \w+/.exec(line)![0])).toEqual([
      'call earlier',
      'call first',
      'call second',
    ])
    expect(screen.marked()).toContain('⏸')
    screen.press('g', 'h')
    expect(screen.marked()).toContain('call second')
  })

  it('cannot be sent again, and the screen says why', () => {
    const screen = strict()
    screen.event({ type: 'live' })
    screen.said('in', call(1, 'before'))
    screen.press('r')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().join('\n')).toContain('--strict-v1')
  })
})

describe('what is held and was left out for a slow screen', () => {
  it('is a row all the same, and one only when the tape tells of it later', () => {
    const screen = createScreen()
    screen.event(heldEvent('h1', call(1, 'search', { token: 'secret' })))
    expect(screen.picture().join('\n')).not.toContain('search')
    screen.event({ type: 'gap', lines: 3, sizeBytes: 100, why: 'too slow' })
    expect(screen.marked()).toContain('⏸ tools/call search')
    const raw = call(1, 'search', { token: '[REDACTED]' })
    screen.line(JSON.stringify({ type: 'held', t, dir: 'in', raw, id: 'h1', seq: 7 }))
    screen.event({ ...released, message: 'h1', outcome: 'forwarded' })
    screen.message('in', raw, { id: 'h1', heldMs: 5 })
    const list = screen.picture().filter((line) => /▶.*tools\/call search/.test(line))
    expect(list).toHaveLength(1)
    expect(list[0]).not.toContain('⏸')
    expect(screen.picture().join('\n')).not.toContain('secret')
  })
})
