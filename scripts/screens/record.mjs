// @ts-check
import { once } from 'node:events'

/** Records one call. @param {import('../screens.mjs').Scene} scene @param {string} tool @param {unknown} args */
export async function recordCall({ start, everything }, tool, args) {
  const child = start(['call', tool, JSON.stringify(args), '--', ...everything])
  child.stdout.resume()
  await once(child, 'exit')
}

/**
 * A client behind a recorder; the scene decides when it initializes and sends requests.
 *
 * @param {import('../screens.mjs').Scene} scene @param {string[]} options
 */
export function recordLive({ start, everything }, ...options) {
  const child = start(['record', ...options, '--', ...everything])
  let text = ''
  child.stdout.on('data', (/** @type {Buffer} */ chunk) => (text += chunk.toString()))
  let id = 0
  const send = (/** @type {unknown} */ message) => child.stdin.write(`${JSON.stringify(message)}\n`)
  return {
    child,
    /** @param {string} method @param {unknown} params */
    ask(method, params = {}) {
      id += 1
      send({ jsonrpc: '2.0', id, method, params })
    },
    /** @param {string} tool @param {unknown} args */
    call(tool, args = {}) {
      this.ask('tools/call', { name: tool, arguments: args })
    },
    async greet() {
      const clientInfo = { name: 'kettle-client', version: '2.1' }
      this.ask('initialize', { protocolVersion: '2025-11-25', clientInfo, capabilities: {} })
      await this.said('"id":1')
      send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    },
    /** @param {string} part */
    async said(part) {
      for (const end = Date.now() + 20_000; !text.includes(part);) {
        if (Date.now() > end) throw new Error(`the server did not say ${part}`)
        await new Promise((done) => setTimeout(done, 20))
      }
    },
  }
}
