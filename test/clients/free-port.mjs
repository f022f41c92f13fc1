// @ts-check
import { createServer } from 'node:net'

/** A free port, for programs that cannot choose one themselves. @returns {Promise<number>} */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => probe.once('listening', resolve))
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  await new Promise((resolve) => probe.close(resolve))
  return port
}
