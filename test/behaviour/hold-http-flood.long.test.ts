/** Held messages over HTTP are bounded: a sender of more waits, and no message is lost. */
import http, { type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { attach, type Attached } from './attach.js'
import { isMessage, post, useHttpStage } from './http-stage.js'
import { settled, until } from './stage.js'
import type { Line } from './tape-bytes.js'

const stage = useHttpStage()

/** Most held messages of a million characters each. */
const mostHeld = 67

/** Counts held messages; reads each event once. */
function countsHeld({ events }: Attached): () => number {
  let seen = 0
  let held = 0
  return () => {
    for (; seen < events.length; seen += 1) if (events[seen]!['type'] === 'held') held += 1
    return held
  }
}

describe('while messages are held over HTTP', () => {
  it('a server that floods an event stream is slowed, and all its messages arrive in order', async () => {
    const events = 110
    const padding = 'x'.repeat(1_000_000)
    let sent = 0
    const flood = (response: ServerResponse): void => {
      while (sent < events) {
        const params = { n: sent++, padding }
        const text = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params })
        if (!response.write(`data: ${text}\n\n`)) return void response.once('drain', () => flood(response))
      }
      response.end()
    }
    const upstream = await stage.serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      flood(response)
    })
    const { recorder, url } = await stage.recordUrl(upstream, ['--intercept'])
    const screen = await attach(stage, { from: 'now' })
    let got = ''
    let ended = false
    http.get(url, { headers: { accept: 'text/event-stream' } }, (response) => {
      response.on('data', (chunk) => (got += String(chunk)))
      response.on('end', () => (ended = true))
    })
    const held = countsHeld(screen)
    await until('as many are held as may be', () => held() >= mostHeld)
    const before = await settled(() => sent)
    // One chunk above the bound, and the buffers of the system.
    expect(held()).toBeLessThan(mostHeld + 3)
    expect(before).toBeLessThan(events)
    expect(got).toBe('')
    expect(screen.events.filter(({ type }) => type === 'notice')).toHaveLength(1)

    await screen.tell({ type: 'forward-all' })
    await until('more is held', () => held() > mostHeld + 10)
    expect(sent).toBeGreaterThan(before)
    await screen.tell({ type: 'hold', on: false })
    await until('all has come', () => ended)
    const numbers = [...got.matchAll(/"n":(\d+),/g)].map(([, n]) => Number(n))
    expect(numbers.length).toBe(events)
    expect(numbers.every((n, i) => n === i)).toBe(true)
    screen.close()
    const lines = await stage.end(recorder)
    const taped = lines.filter(isMessage).map((line) => ((line['raw'] as Line)['params'] as Line)['n'])
    expect(taped.length).toBe(events)
    expect(lines.some(({ type }) => type === 'gap')).toBe(false)
  })

  it('bodies above 64 MB in total are not read until others have gone on', async () => {
    const clients = 70
    const upstream = await stage.echo('json')
    const { recorder, url } = await stage.recordUrl(upstream.url, ['--break', 'is:request'])
    const screen = await attach(stage, { from: 'now' })
    const big = 'x'.repeat(1_200_000)
    const answers = Promise.all(
      Array.from({ length: clients }, (_, id) => post(url, { id, method: 'x', params: { big } })),
    )
    answers.catch(() => undefined)
    const held = countsHeld(screen)
    await screen.event('no more can be held', ({ type }) => type === 'notice')
    // The 56th message exceeds the bound; later ones wait although they arrived complete.
    expect(await settled(held, 56)).toBe(56)
    const { message } = await screen.held()
    await screen.tell({ type: 'forward', message })
    await screen.tell({ type: 'forward-all' })
    await until('the rest is held', () => held() === clients)
    await screen.tell({ type: 'forward-all' })
    expect((await answers).map(({ status }) => status)).toEqual(Array.from({ length: clients }, () => 200))
    expect(upstream.bodies.filter((body) => body.endsWith('x"}}')).length).toBe(clients)
    screen.close()
    const lines = await stage.end(recorder)
    expect(lines.filter(isMessage)).toHaveLength(2 * clients)
  })
})
