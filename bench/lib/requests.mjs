// @ts-check
/**
 * Requests of an exact size whose ids all have ten digits, so that a batch is made by copying bytes.
 * `bench/servers/echo-rpc.mjs` relies on this layout.
 */
import { Buffer } from 'node:buffer'

const FIRST_ID = 1_000_000_000
const ID_AT = '{"jsonrpc":"2.0","id":'.length

/**
 * @param {number} sizeBytes Size of each request and of each response, LF included; at least 90.
 * @returns {(first: number, count: number) => Buffer} Returns `count` requests, numbered from `first`.
 */
export function requestsOf(sizeBytes) {
  const head = `{"jsonrpc":"2.0","id":${FIRST_ID},"method":"bench/echo","params":{"size":${sizeBytes},"pad":"`
  const padBytes = sizeBytes - head.length - 4
  if (padBytes < 0) throw new Error(`A request cannot be as short as ${sizeBytes} bytes`)
  const template = Buffer.from(`${head}${'q'.repeat(padBytes)}"}}\n`, 'latin1')
  return (first, count) => {
    const batch = Buffer.allocUnsafe(count * sizeBytes)
    for (let n = 0; n < count; n++) {
      template.copy(batch, n * sizeBytes)
      batch.write(String(FIRST_ID + first + n), n * sizeBytes + ID_AT, 'latin1')
    }
    return batch
  }
}
