// @ts-check
/**
 * Sends the same bytes as `echo-rpc.mjs` but works as real servers do: it parses each line, and serializes and writes
 * each response by itself.
 */
import { createInterface } from 'node:readline'

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { id, params } = JSON.parse(line)
  const empty = JSON.stringify({ jsonrpc: '2.0', id, result: { pad: '' } })
  const pad = 'r'.repeat(params.size - empty.length - 1)
  if (!process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { pad } })}\n`))
    await new Promise((done) => process.stdout.once('drain', done))
}
