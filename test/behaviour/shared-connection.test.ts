import { Agent, request } from 'node:http'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage, useHttpStage } from './http-stage.js'
import type { Line } from './tape-bytes.js'

const stage = useHttpStage()

/** A server that gives each client a session and responds with its id. */
function serveSessions(): Promise<string> {
  let count = 0
  return stage.serve((incoming, response) => {
    let body = ''
    incoming.on('data', (chunk) => (body += String(chunk)))
    incoming.on('end', () => {
      const { id, method } = JSON.parse(body) as Line
      const session = method === 'initialize' ? `session-${count++}` : incoming.headers['mcp-session-id']
      response.writeHead(200, {
        'content-type': 'application/json',
        ...(method === 'initialize' && { 'mcp-session-id': session }),
      })
      response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { session } }))
    })
  })
}

function post(
  url: string,
  agent: Agent,
  message: Line,
  session?: string,
): Promise<{ session?: string; answer: Line }> {
  const headers = { 'content-type': 'application/json', ...(session && { 'mcp-session-id': session }) }
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', agent, headers }, (response) => {
      let body = ''
      response.on('data', (chunk) => (body += String(chunk)))
      response.on('end', () => {
        const given = response.headers['mcp-session-id']
        resolve({ answer: JSON.parse(body) as Line, ...(typeof given === 'string' && { session: given }) })
      })
    })
    asked.on('error', reject)
    asked.end(JSON.stringify({ jsonrpc: '2.0', ...message }))
  })
}

describe('clients that share a connection', () => {
  it('have a conversation each, and delay only their own messages', async () => {
    const { recorder, url } = await stage.recordUrl(await serveSessions())
    const shared = new Agent({ keepAlive: true, maxSockets: 1 })
    const others = new Agent({ keepAlive: true })
    const first = (await post(url, shared, { id: 0, method: 'initialize' })).session!
    const second = (await post(url, shared, { id: 0, method: 'initialize' })).session!
    expect([first, second]).toEqual(['session-0', 'session-1'])

    const screen = await attach(stage)
    await screen.tell({ type: 'breakpoints', filters: ['tool:held dir:in'] })
    await screen.tell({ type: 'hold', on: true })
    const held = post(url, others, { id: 1, method: 'tools/call', params: { name: 'held' } }, first)
    const { message } = await screen.held()
    const free = await post(url, others, { id: 1, method: 'tools/call', params: { name: 'free' } }, second)
    expect(free.answer['result']).toEqual({ session: second })
    await screen.tell({ type: 'forward', message })
    expect((await held).answer['result']).toEqual({ session: first })

    screen.close()
    shared.destroy()
    others.destroy()
    const messages = (await stage.end(recorder)).filter(isMessage)
    const conversations = (session: string): unknown[] => {
      const answers = messages.filter(({ raw }) => raw.result?.session === session)
      const asked = answers.map(({ corr }) => messages.find(({ id }) => id === corr)!)
      return [...new Set([...answers, ...asked].map(({ conv }) => conv as unknown))]
    }
    expect([conversations(first), conversations(second)]).toEqual([['connection-0'], ['connection-0-2']])
  })
})
