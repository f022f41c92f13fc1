/** `@modelcontextprotocol/server-everything`, the official server with every feature of MCP. */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { afterFile } from '../after-file.js'
import { until } from '../behaviour/stage.js'
import { freePort } from './free-port.mjs'

/** Path of the program. */
export const everythingScript = ((): string => {
  const manifest = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/package.json',
  )
  return join(dirname(manifest), 'dist/index.js')
})()

/** Command line of the server on stdio. */
export const everythingOnStdio: readonly string[] = [process.execPath, everythingScript, 'stdio']

/** Start time on a busy machine. */
const startMs = 60_000

/** Starts it on a free port, until the tests of the file are over. Resolves with its URL. */
export async function startEverything(transport: 'streamableHttp' | 'sse'): Promise<string> {
  const port = await freePort()
  const child = spawn(process.execPath, [everythingScript, transport], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  afterFile(() => child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk) => (said += String(chunk)))
  await until('the server listens', () => said.includes(String(port)), startMs)
  return `http://127.0.0.1:${port}/${transport === 'sse' ? 'sse' : 'mcp'}`
}
