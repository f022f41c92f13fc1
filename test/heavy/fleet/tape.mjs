// @ts-check
import { randomUUID } from 'node:crypto'
import { identity } from '../../fixtures/identity.mjs'

/**
 * A finished tape of a session: `calls` calls of a tool, each with its response and a text that no other call has.
 *
 * @param {number} recorder
 * @param {number} calls
 */
export function makeTape(recorder, calls) {
  const startedAt = `2026-08-0${1 + (recorder % 3)}T10:00:00.000Z`
  const own = { ...identity, session: randomUUID() }
  /** @type {object[]} */
  const lines = [
    {
      v: 1,
      type: 'meta',
      startedAt,
      label: `shop-${recorder % 5}`,
      command: ['server'],
      mcpTapVersion: 'wiretape 0.1.0',
      wiretape: own,
    },
  ]
  for (let i = 0; i < calls; i += 1) {
    const [asked, us] = [randomUUID(), i * 2_000]
    const mark = `${recorder}-${i}`
    const call = {
      jsonrpc: '2.0',
      id: i,
      method: 'tools/call',
      params: { name: 'echo', arguments: { mark } },
    }
    lines.push({ t: startedAt, dir: 'in', raw: call, id: asked, seq: 2 * i, us })
    const answer = { jsonrpc: '2.0', id: i, result: { content: [{ type: 'text', text: mark }] } }
    lines.push({
      t: startedAt,
      dir: 'out',
      raw: answer,
      id: randomUUID(),
      corr: asked,
      seq: 2 * i + 1,
      us: us + 900,
    })
  }
  lines.push({ t: startedAt, type: 'end', exitCode: 0, durationMs: 20, wiretape: { messages: 2 * calls } })
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}
