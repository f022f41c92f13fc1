import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { expect, it } from 'vitest'
import { useHttpStage } from './http-stage.js'
import { cli } from './stage.js'

const stage = useHttpStage()

/** Posts a request on the agent's connection. */
function post(agent: Agent, url: string, id: number): Promise<void> {
  return new Promise((done, fail) => {
    const sent = request(url, { agent, method: 'POST', headers: { 'content-type': 'application/json' } })
    sent.on('error', fail)
    sent.on('response', (answer) => answer.resume().on('end', done))
    sent.end(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }))
  })
}

it('phases of HTTP exchanges are on the tape, in inspect and in the timings of a HAR', async () => {
  const { url: upstream } = await stage.echo('json')
  const { recorder, url } = await stage.recordUrl(upstream)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  await post(agent, url, 1)
  await post(agent, url, 2)
  agent.destroy()
  const lines = await stage.end(recorder)
  const phases = lines.flatMap(({ dir, http }) =>
    dir === 'out' ? [(http as Record<string, object>)['phases']!] : [],
  )
  expect(phases.map((one) => Object.keys(one))).toEqual([['connectMs', 'waitMs'], ['waitMs']])

  const inspect = stage.start([process.execPath, cli, 'inspect', '--verbose', stage.tape()])
  await inspect.ended
  expect(inspect.stdout().toString()).toMatch(
    /HTTP: connect \S+ ms, wait \S+ ms\n[^]*HTTP: reused connection, wait/,
  )

  const har = stage.path('out.har')
  await stage.start([process.execPath, cli, 'convert', stage.tape(), har]).ended
  const { log } = JSON.parse(readFileSync(har, 'utf8')) as {
    log: { entries: { time: number; timings: Record<string, number> }[] }
  }
  const [fresh, reused] = log.entries
  expect(reused!.timings).toMatchObject({ dns: -1, connect: -1, ssl: -1, wait: expect.any(Number) as number })
  const { connect, wait, receive } = fresh!.timings
  expect(connect! + wait! + receive!).toBeCloseTo(fresh!.time, 2)
  expect(connect).toBeGreaterThan(0)
})
