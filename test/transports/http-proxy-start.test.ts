import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { startHttpProxy } from '../../src/transports/index.js'
import { useHttpStage } from './http-proxy-stage.js'

const stage = useHttpStage()

describe('starting the HTTP proxy', () => {
  const start = (upstream: string, options: { host?: string; port?: number; allowRemote?: boolean } = {}) =>
    startHttpProxy({
      upstream: new URL(upstream),
      host: '127.0.0.1',
      port: 0,
      onEvent: () => undefined,
      ...options,
    })

  it('refuses invalid options, in one line', async () => {
    const other = await stage.httpUpstream((_, response) => response.end())
    const refusals: [string, Parameters<typeof start>[1], RegExp][] = [
      ['ftp://a/', {}, /ftp: is not http/],
      ['http://me:secret@a/', {}, /a user name or a password/],
      ['http://a/', { port: other }, /the port is in use/],
      ['http://a/', { host: '0.0.0.0' }, /other machines could use the server/],
      ['http://a/', { host: '::' }, /other machines could use the server/],
      ['http://a/', { host: 'nowhere.invalid' }, /the host name was not found/],
      [`http://localhost:${other}/`, { port: other }, /on which wiretape would listen/],
      [`http://127.0.0.1:${other}/`, { port: other, host: '0.0.0.0', allowRemote: true }, /would listen/],
    ]
    for (const [upstream, options, message] of refusals) {
      const error: Error = await start(upstream, options).then(
        () => new Error(`${upstream} was taken`),
        (error: Error) => error,
      )
      expect(error).toMatchObject({ name: 'WiretapeError', code: 'usage' })
      expect(error.message).toMatch(message)
      expect(error.message).not.toMatch(/secret|\n/)
    }
  })

  it('listens for other machines only on request', async () => {
    const upstream = await stage.httpUpstream((_, response) => response.end('ok'))
    const proxy = await stage.proxy(upstream, { host: '0.0.0.0', allowRemote: true })
    expect(proxy.url).toBe(`http://127.0.0.1:${proxy.port}/mcp`)
    const address = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address
    const url = `http://${address ?? '127.0.0.1'}:${proxy.port}/`
    expect(await fetch(url).then((answer) => answer.text())).toBe('ok')
  })
})
