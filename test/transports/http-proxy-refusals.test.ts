import { describe, expect, it } from 'vitest'
import { refusalOf, type ProxyAddress } from '../../src/transports/http-proxy/admission.js'
import { until } from '../behaviour/stage.js'
import { useHttpStage, wordsOf } from './http-proxy-stage.js'

const stage = useHttpStage()

const place: ProxyAddress = {
  host: '127.0.0.1',
  port: 4000,
  open: false,
  upstreamOrigin: 'https://mcp.example',
}
const own = 'localhost:4000'

describe('requests of web pages', () => {
  it.each([own, '127.0.0.1:4000', '[::1]:4000', 'LOCALHOST:4000'])('pass with the host %s', (host) => {
    expect(refusalOf(['host', host], place)).toBe(undefined)
  })

  it.each([
    'localhost',
    'localhost:4001',
    'evil.example:4000',
    'localhost.evil.example:4000',
    '',
    ':4000',
    '127.0.0.2:4000',
    'a@localhost:4000',
  ])('do not pass with the host "%s"', (host) => expect(refusalOf(['Host', host], place)).toContain('Host'))

  it('do not pass without a host, or with two', () => {
    expect(refusalOf([], place)).toContain('Host')
    expect(refusalOf(['Host', own, 'host', own], place)).toContain('Host')
  })

  it('pass with any host where others may come, and with the host that was asked for', () => {
    expect(refusalOf(['Host', 'box.example:4000'], { ...place, host: '0.0.0.0', open: true })).toBe(undefined)
    expect(refusalOf(['Host', 'box.example:4000'], { ...place, host: 'box.example' })).toBe(undefined)
    expect(refusalOf(['Host', 'localhost'], { ...place, port: 80 })).toBe(undefined)
  })

  it.each([
    'http://localhost:6274',
    'https://localhost',
    'http://127.0.0.1:1',
    'http://[::1]:5',
    'https://mcp.example',
    'http://127.0.0.1:4000',
  ])('pass with the origin %s', (origin) => {
    expect(refusalOf(['Host', own, 'Origin', origin], place)).toBe(undefined)
    expect(refusalOf(['Host', 'x', 'Origin', origin], { ...place, open: true })).toBe(undefined)
  })

  it.each([
    'null',
    'https://evil.example',
    'http://mcp.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'http://localhost@evil.example',
    'http://localhost:1 http://evil.example',
    'file://',
    '',
    'chrome-extension://abc',
    'http://localhost/path',
  ])('do not pass with the origin "%s"', (origin) => {
    expect(refusalOf(['Host', own, 'ORIGIN', origin], place)).toContain('Origin')
    expect(refusalOf(['Host', own, 'Origin', origin], { ...place, open: true })).toContain('Origin')
    expect(refusalOf(['Host', own, 'Origin', 'http://localhost', 'Origin', origin], place)).toContain(
      'Origin',
    )
  })

  it.each(['cross-site', 'same-site', 'Cross-Site', 'anything'])(
    'do not pass without an origin when the browser says that they come from elsewhere: %s',
    (site) => {
      expect(refusalOf(['Host', own, 'Sec-Fetch-Site', site], place)).toContain('Sec-Fetch-Site')
      expect(refusalOf(['Host', own, 'sec-fetch-site', site], { ...place, open: true })).toContain(
        'Sec-Fetch-Site',
      )
      // Pages that may ask, such as the inspector on another port, name themselves.
      expect(refusalOf(['Host', own, 'Sec-Fetch-Site', site, 'Origin', 'http://localhost:6274'], place)).toBe(
        undefined,
      )
    },
  )

  it.each(['same-origin', 'none'])('pass when a person or our own origin asks: %s', (site) => {
    expect(refusalOf(['Host', own, 'Sec-Fetch-Site', site], place)).toBe(undefined)
  })

  it('are answered with 403, told, and not seen by the upstream', async () => {
    let count = 0
    const upstream = await stage.httpUpstream((_, response) => {
      count += 1
      response.end()
    })
    const proxy = await stage.proxy(upstream)
    const answer = await fetch(proxy.url, {
      method: 'POST',
      body: 'x',
      headers: { origin: 'https://evil.example' },
    })
    expect(answer.status).toBe(403)
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(await answer.text()).toBe(
      'wiretape refused this request: its Origin header belongs to another site.\n',
    )
    expect(wordsOf(proxy.events)).toEqual(['request POST /mcp', 'failed by wiretape 403'])
    expect((await fetch(proxy.url)).status).toBe(200)
    expect(count).toBe(1)
  })
})

describe('what is no request to pass on', () => {
  it.each([
    ['a tunnel', 'CONNECT a:1 HTTP/1.1\r\nHost: {host}\r\n\r\n', '501'],
    [
      'a WebSocket',
      'GET / HTTP/1.1\r\nHost: {host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
      '501',
    ],
    ['a URL', 'GET http://evil.example/ HTTP/1.1\r\nHost: {host}\r\n\r\n', '400'],
    ['nonsense', 'what is this?\r\n\r\n', '400'],
    [
      'two lengths',
      'POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
      '400',
    ],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      '400',
    ],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', '400'],
    ['no host in HTTP/1.0', 'GET / HTTP/1.0\r\n\r\n', '403'],
  ])('is answered, and others go on: %s', async (_, text, status) => {
    const upstream = await stage.httpUpstream((_, response) => response.end('ok'))
    const proxy = await stage.proxy(upstream)
    const client = stage.client(proxy.port, text.replace('{host}', `localhost:${proxy.port}`))
    const bytes = await client.until((bytes) => bytes.includes('\r\n\r\n'))
    expect(bytes.toString()).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(await fetch(proxy.url).then((answer) => answer.text())).toBe('ok')
  })

  it('ends an exchange whose body is no HTTP', async () => {
    const upstream = await stage.httpUpstream((request) => request.resume())
    const proxy = await stage.proxy(upstream)
    const head = `POST / HTTP/1.1\r\nHost: localhost:${proxy.port}\r\nTransfer-Encoding: chunked\r\n\r\n`
    const client = stage.client(proxy.port, `${head}3\r\nabc\r\nnonsense\r\n`)
    await client.closed
    await until('it is told', () => wordsOf(proxy.events).includes('failed by client'))
  })
})
