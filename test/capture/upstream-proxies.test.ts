import { describe, expect, it } from 'vitest'
import { upstreamProxiesOf } from '../../src/capture/forward/upstream-proxies.js'

const targetOf = (text: string): { url: URL; hostname: string; port: number } => {
  const url = new URL(text)
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  return { url, hostname: url.hostname.replace(/^\[(.*)\]$/, '$1'), port }
}

/** `host:port` of the proxy for a URL. */
const way = (env: Record<string, string>, text: string): string | undefined => {
  const proxy = upstreamProxiesOf(env).for(targetOf(text))
  return proxy && `${proxy.secure ? 'tls ' : ''}${proxy.hostname}:${proxy.port}`
}

describe('the proxies that the environment names', () => {
  it.each<[Record<string, string>, string | undefined, string | undefined]>([
    [{}, undefined, undefined],
    [{ HTTPS_PROXY: 'http://p:3128' }, undefined, 'p:3128'],
    [{ HTTP_PROXY: 'http://p:3128' }, 'p:3128', undefined],
    [{ HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2' }, undefined, 'q:2'],
    [{ ALL_PROXY: 'p', HTTP_PROXY: '' }, 'p:80', 'p:80'],
    [{ https_proxy: 'https://p' }, undefined, 'tls p:443'],
    [{ https_proxy: 'http://[::1]:8' }, undefined, '::1:8'],
    [{ https_proxy: 'p:3128/' }, undefined, 'p:3128'],
  ])('are those of the scheme: %j', (env, plain, secure) => {
    expect([way(env, 'http://x/'), way(env, 'https://x/')]).toEqual([plain, secure])
  })

  it.each([
    ['x.example', 'x.example', true],
    ['x.example', 'y.x.example', true],
    ['.x.example', 'y.x.example', true],
    ['*.x.example', 'y.x.example', true],
    ['X.Example', 'x.EXAMPLE', true],
    ['x.example', 'yx.example', false],
    ['a, b\tx.example', 'x.example', true],
    ['x.example:443', 'x.example', true],
    ['x.example:8443', 'x.example', false],
    ['x.example:8443', 'x.example:8443', true],
    ['*', 'anything', true],
    ['10.0.0.0/8', '10.1.2.3', true],
    ['10.0.0.0/8', '11.1.2.3', false],
    ['10.0.0.0/99', '10.1.2.3', false],
    ['0.0.1', '127.0.0.1', false],
    ['127.0.0.1', '127.0.0.1', true],
    ['::1', '[::1]', true],
    ['[::1]:443', '[::1]', true],
    ['fd00::/8', '[fd12::1]', true],
    ['', 'x.example', false],
  ])('are not for NO_PROXY %j: %s is exempt: %s', (list, host, exempt) => {
    const env = { HTTPS_PROXY: 'http://p:3128', NO_PROXY: list }
    expect(way(env, `https://${host}/`)).toBe(exempt ? undefined : 'p:3128')
  })

  it('have a login, which is told to nobody else', () => {
    const { authorization } = upstreamProxiesOf({ https_proxy: 'http://us%40er:pa%3Ass@p' }).for(
      targetOf('https://x/'),
    )!
    expect(Buffer.from(authorization!.slice('Basic '.length), 'base64').toString()).toBe('us@er:pa:ss')
    const { troubles } = upstreamProxiesOf({ https_proxy: 'socks5://me:hush@p', HTTP_PROXY: 'http://a b' })
    expect(troubles).toEqual([
      'HTTP_PROXY is not the URL of a proxy: it is ignored, and servers are connected to directly',
      'https_proxy is a socks5:// proxy, which is not supported: it is ignored, and servers are connected to directly',
    ])
  })
})
