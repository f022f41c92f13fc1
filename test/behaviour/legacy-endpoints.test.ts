import { describe, expect, it } from 'vitest'
import { readFileSync } from 'node:fs'
import { isMessage } from './http-stage.js'
import { wiretape } from './run-cli.js'
import { until } from './stage.js'
import { connect, endpoints, ping, sessions, useLegacyServers } from './legacy-stage.js'

const { stage, serveStreams } = useLegacyServers()

describe.each(endpoints)('a server of HTTP+SSE that has its session %s', (_, endpoint) => {
  it('has its responses told apart on the tape, without the session', async () => {
    const upstream = new URL(await serveStreams(endpoint))
    const { recorder, url } = await stage.recordUrl(`${upstream.origin}/deep/mcp`)
    const clients = [await connect(url), await connect(url)]
    for (const [n, client] of clients.entries()) await client.send(ping(1, `client ${n}`))
    await until('all is answered', () => clients.every((one) => one.came().includes('asked')))
    for (const one of clients) await one.close()
    const lines = (await stage.end(recorder)).filter(isMessage)
    expect(lines).toHaveLength(4)
    for (const who of ['client 0', 'client 1']) {
      const [request, answer] = lines.filter((line) => JSON.stringify(line).includes(who))
      expect(answer).toMatchObject({ dir: 'out', corr: request!['id'], conv: request!['conv'] })
    }
    expect(new Set(lines.map((line) => line['conv'] as string)).size).toBe(2)
    const tape = readFileSync(stage.tape(), 'utf8')
    for (const session of sessions) expect(tape).not.toContain(session)
    expect(tape).toContain('[REDACTED]')
    // The recorder did not know the transport when its tape began.
    const shown = await wiretape(['inspect', stage.tape(), '--filter', 'transport:sse'])
    expect(shown.stdout).toMatch(/^(\d+) of \1 rows: over sse$/m)
    const converted = await wiretape(['convert', '--to', 'http-sse', stage.tape(), stage.path('as.json')])
    expect(converted.stderr).not.toContain('recording is written as')
    const session = await wiretape(['convert', '--to', 'session-json', stage.tape(), '-'])
    expect(session.stdout).toContain('"transport": "sse"')
    expect(session.stdout).not.toContain('"transport": "streamable-http"')
  })
})
