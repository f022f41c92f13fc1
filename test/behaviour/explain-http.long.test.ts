import { describe, expect, it } from 'vitest'
import { explained } from './explained.js'
import { post, useHttpStage } from './http-stage.js'
import { until, type Actor } from './stage.js'

const stage = useHttpStage()

const call = { id: 1, method: 'tools/call', params: { name: 'search', arguments: { q: 'x' } } }

const explain = (...args: string[]): Promise<string> => explained(stage, ...args)

async function told(recorder: Actor, ...args: string[]): Promise<string> {
  await stage.end(recorder)
  return explain(...args)
}

describe('wiretape explain of a server over HTTP', () => {
  it('says that the server required a token, and that the client repeated the request', async () => {
    const upstream = await stage.serve((request, response) => {
      request.resume().on('end', () => {
        if (request.headers.authorization === undefined)
          return response
            .writeHead(401, { 'www-authenticate': 'Bearer resource_metadata="https://x/y"' })
            .end('no token')
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: 2, result: {} }))
      })
    })
    const { recorder, url } = await stage.recordUrl(upstream)
    await post(url, call)
    await post(url, { ...call, id: 2 }, { authorization: 'Bearer abcdefghijkl' })
    const one = await told(recorder, '0')
    expect(one).toMatch(/The server refused the HTTP request after .* with status 401: “no token”/)
    expect(one).toContain('Its challenge is “Bearer resource_metadata=')
    expect(one).toMatch(/The client sent the same request again .* later \(#1\) and got a result/)
    expect(one).toContain(
      'At fault: the client. The server refused the HTTP request: it requires a valid token.',
    )
    expect(await explain()).toContain('1 of 2 requests failed')
    expect(await explain('1')).toContain('The client had sent the same request before (#0)')
  })

  it("says that the server failed, with the text of the server's response", async () => {
    const upstream = await stage.serve((request, response) =>
      request.resume().on('end', () => response.writeHead(502).end('bad gateway')),
    )
    const { recorder, url } = await stage.recordUrl(upstream)
    await post(url, call)
    const one = await told(recorder, '0')
    expect(one).toContain('with status 502: “bad gateway”')
    expect(one).toContain('At fault: the server')
    expect(one).toContain('Whether the server or a gateway in front of it refused the request')
  })

  it('says that the server could not be reached', async () => {
    const { recorder, url } = await stage.recordUrl('http://127.0.0.1:9/mcp')
    await post(url, call)
    const one = await told(recorder, '0')
    expect(one).toMatch(/The HTTP exchange ended after .* without a response: (?!upstream)/)
    expect(one).toContain('At fault: the server or the network. The server could not be reached.')
  })

  it('says that the client left', async () => {
    let came = false
    const upstream = await stage.serve((request) => void request.resume().on('end', () => (came = true)))
    const { recorder, url } = await stage.recordUrl(upstream)
    const stop = new AbortController()
    const left = fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', ...call }),
      signal: stop.signal,
    }).catch(() => undefined)
    await until('the request came', () => came || undefined)
    stop.abort()
    await left
    const one = await told(recorder, '0')
    expect(one).toContain('At fault: the client. The client closed the HTTP connection before the response.')
    expect(one).toContain('Whether the server would have answered')
  })

  it('says which error had which status', async () => {
    const upstream = await stage.serve((request, response) => {
      request.resume().on('end', () => {
        response.writeHead(400, { 'content-type': 'application/json' })
        const error = { code: -32602, message: 'q is missing' }
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, error }))
      })
    })
    const { recorder, url } = await stage.recordUrl(upstream)
    await post(url, call)
    const one = await told(recorder, '1')
    expect(one).toMatch(/refused it after .* with HTTP 400 and error -32602: “q is missing”/)
    expect(one).toContain('the parameters are invalid')
    expect(one).toContain('Whether the server is right: only its error says so')
  })
})
