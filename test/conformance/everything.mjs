// @ts-check
/** `@modelcontextprotocol/server-everything` over HTTP. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { freePort } from '../clients/free-port.mjs'
import { start } from './actors.mjs'

const script = (() => {
  const manifest = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/package.json',
  )
  return join(dirname(manifest), 'dist/index.js')
})()

/** Starts it. @param {'streamableHttp' | 'sse'} transport */
export async function startEverything(transport) {
  const port = await freePort()
  const server = start(process.execPath, [script, transport], { env: { ...process.env, PORT: String(port) } })
  const written = new Promise((/** @type {(value?: undefined) => void} */ done) => {
    server.child.stderr?.on('data', () => {
      if (server.err().includes(String(port))) done()
    })
  })
  const ending = await Promise.race([written, server.ended])
  if (ending) throw new Error(`server-everything ended with ${ending.code}: ${ending.err}`)
  return { server, url: `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}` }
}
