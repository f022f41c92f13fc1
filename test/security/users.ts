/** Another user of this machine: programs that run with a uid that is neither ours nor root's. */
import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { leftOut } from '../behaviour/run-cli.js'

/** `nobody` on most systems; any uid but our own would do. */
export const strangerUid = 65_534

const isRoot = process.platform === 'linux' && process.geteuid?.() === 0

/** Whether programs can be started as another user; prints one line if not. */
export const hasStranger = !leftOut(isRoot, 'tests with two users need Linux and root')

const program = `
  const [port, text] = process.argv.slice(1)
  const socket = require('node:net').connect(Number(port), '127.0.0.1', () => socket.write(text))
  socket.on('data', (chunk) => process.stdout.write(chunk))
  socket.on('error', (error) => process.stdout.write(String(error)))
`

/** Sends bytes to a port of this machine, as a user, and returns all that comes back. */
export async function say(port: number, text: string, uid: number): Promise<string> {
  const child = spawn(process.execPath, ['-e', program, String(port), text], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...(uid === process.geteuid?.() ? {} : { uid, gid: uid }),
  })
  let said = ''
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await once(child, 'close')
  return said
}

/** An HTTP request after which the server closes the connection. */
export function requestText(port: number, path: string, body?: unknown): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const head = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: close',
    'Accept: application/json, text/event-stream',
  ]
  if (body !== undefined)
    head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`)
  return `${head.join('\r\n')}\r\n\r\n${text}`
}

export const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
}
