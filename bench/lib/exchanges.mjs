// @ts-check
/** Batches of HTTP exchanges for the recording thread: a POST of 100 B and its response, as the proxy reports them. */
import { join } from 'node:path'
import { root } from './books.mjs'

const FIRST_ID = 1_000_000_000
const CONNECTIONS = 32

/** @param {{ isStream: boolean }} options */
export async function createExchanges({ isStream }) {
  const { HttpBatchFiller } = await import(join(root, 'dist/proxy/http-batch.js'))
  const { RegionPool } = await import(join(root, 'dist/proxy/region-pool.js'))
  const pool = new RegionPool()
  let exchange = 0
  const add = (/** @type {InstanceType<typeof HttpBatchFiller>} */ filler) => {
    const id = FIRST_ID + exchange
    const us = exchange * 50
    const at = { exchange, wallMs: 1.7e12 + us / 1000 }
    const asked = Buffer.from(
      `{"jsonrpc":"2.0","id":${id},"method":"bench/echo","params":{"pad":"${'r'.repeat(24)}"}}`,
    )
    const result = `{"jsonrpc":"2.0","id":${id},"result":{"pad":"${'r'.repeat(46)}"}}`
    const answer = Buffer.from(isStream ? `event: message\ndata: ${result}\n\n` : result)
    const asks = ['Host', '127.0.0.1:1234', 'Content-Type', 'application/json', 'Content-Length', '100']
    const type = isStream ? 'text/event-stream' : 'application/json'
    const says = ['Content-Type', type, 'Date', 'Fri, 02 Jan 2026 00:00:00 GMT', 'Connection', 'keep-alive']
    const connection = exchange % CONNECTIONS
    filler.add({ kind: 'request', connection, method: 'POST', path: '/mcp', headers: asks, ...at }, us)
    filler.add({ kind: 'request-body', bytes: asked, ...at }, us)
    filler.add({ kind: 'request-end', ...at }, us)
    filler.add({ kind: 'response', status: 200, headers: says, phases: { waitMs: 0.3 }, ...at }, us)
    filler.add({ kind: 'response-body', bytes: answer, ...at }, us)
    filler.add({ kind: 'response-end', ...at }, us)
    exchange += 1
  }
  return {
    /** @param {number} count few enough for one region */
    batch(count) {
      const filler = new HttpBatchFiller(pool)
      for (let n = 0; n < count; n++) add(filler)
      return filler.take()
    },
    /** @param {{ region: Uint8Array }} batch that was read */
    giveBack: ({ region }) => pool.giveBack([region.buffer]),
  }
}
