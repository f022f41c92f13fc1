/** Machine output of shipping, collecting and querying a fleet: published JSON, and the metrics that receivers get. */
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { attributesOf, countOf, startReceiver } from '../telemetry/receiver.mjs'
import { expectSchema } from './data-folder.js'
import { cli, until, useStage } from './stage.js'

const stage = useStage()
let store: string
let recordings: string
beforeEach(() => {
  store = join(stage.env['XDG_DATA_HOME']!, 'store')
  recordings = join(stage.env['XDG_DATA_HOME']!, 'wiretape/recordings')
  mkdirSync(store, { recursive: true })
})

async function run(args: readonly string[], input?: string): Promise<string> {
  const actor = stage.start([process.execPath, cli, ...args])
  if (input !== undefined) await actor.send(input)
  actor.stdin.end()
  expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
  expect(actor.stderr().toString()).toBe('')
  return actor.stdout().toString()
}

const lines = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)

async function record(label: string): Promise<void> {
  await run(['record', '--quiet', '--label', label, '--', 'cat'], '{"jsonrpc":"2.0","method":"one"}\n')
}

describe('the machine output of a fleet', () => {
  it('is as published, from ship, collect and status --fleet', async () => {
    await record('shop')
    const shipped = lines(await run(['ship', '--to', store, '--json']))
    expect(shipped).toHaveLength(1)
    expectSchema('ship', shipped[0])
    expect(shipped[0]).toMatchObject({ shipped: 1, waiting: 0, trouble: null })
    const again = lines(await run(['ship', '--to', store, '--json']))
    expectSchema('ship', again[0])
    expect(again[0]).toMatchObject({ shipped: 0 })

    const batches = lines(await run(['collect', '--from', store, '--to', store, '--once', '--json']))
    expect(batches).toHaveLength(1)
    expectSchema('collect', batches[0])
    // `cat` sends the message back, so there are two.
    expect(batches[0]).toMatchObject({ segments: 1, messages: 2 })

    const fleet = JSON.parse(await run(['status', '--fleet', '--at', store, '--json'])) as unknown
    expectSchema('fleet', fleet)
    expect(JSON.stringify(fleet)).toContain('"segments":1')
  })

  it('is as published for a store that refuses', async () => {
    await record('shop')
    const actor = stage.start([process.execPath, cli, 'ship', '--json', '--to', 's3://tapes'], {
      env: {
        ...stage.env,
        AWS_ACCESS_KEY_ID: 'nobody',
        AWS_SECRET_ACCESS_KEY: 'secret',
        AWS_ENDPOINT_URL: 'http://127.0.0.1:9',
      },
    })
    expect((await actor.ended).exitCode).toBe(2)
    const [line] = lines(actor.stdout().toString())
    expectSchema('ship', line)
    expect(line).toMatchObject({ shipped: 0, waiting: 1, trouble: { code: 'unreachable' } })
  })

  it('tells of a store that refuses although nothing waits: --once with exit code 2, --follow once', async () => {
    const passes: string[] = []
    let isAllowed = false
    const server = createServer((request, response) => {
      request.resume()
      if (isAllowed) return void response.end()
      passes.push(`${request.method} ${request.url}`)
      response.writeHead(403).end('<Error><Code>InvalidAccessKeyId</Code></Error>')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const env = {
      ...stage.env,
      AWS_ACCESS_KEY_ID: 'nobody',
      AWS_SECRET_ACCESS_KEY: 'secret',
      AWS_ENDPOINT_URL: `http://127.0.0.1:${port}`,
    }
    const ship = (...more: string[]): ReturnType<typeof stage.start> =>
      stage.start([process.execPath, cli, 'ship', '--to', 's3://tapes', ...more], { env })
    const said = /^wiretape: S3 127.0.0.1:\d+: writing hosts\/\w+\.json: status 403, InvalidAccessKeyId\n/
    try {
      const actor = ship('--once')
      expect((await actor.ended).exitCode).toBe(2)
      expect(actor.stdout().toString()).toBe('')
      expect(actor.stderr().toString()).toMatch(said)
      const follower = ship('--follow', '--every', '10ms')
      const before = passes.length
      await until('three passes', () => passes.length >= before + 3)
      isAllowed = true
      await until('an accepted pass', () => follower.stderr().toString().includes('again'))
      follower.child.kill('SIGTERM')
      await follower.ended
      expect(follower.stderr().toString().replace(said, '')).toBe(
        'wiretape: the store accepts segments again\n',
      )
    } finally {
      server.close()
    }
  })
})

describe('status --fleet', () => {
  const minutes = (count: number): string => new Date(Date.now() + count * 60_000).toISOString()
  function told(name: string, state: object): void {
    const nothing = {
      shipped: 0,
      shippedBytes: 0,
      sentBytes: 0,
      refusals: 0,
      failures: 0,
      waiting: 0,
      waitingBytes: 0,
    }
    const usual = { oldestWaiting: null, trouble: null, user: 'ann', at: minutes(0), wiretape: '0.1.0' }
    mkdirSync(join(store, 'hosts'), { recursive: true })
    writeFileSync(
      join(store, 'hosts', `${name}.json`),
      JSON.stringify({ v: 1, ...nothing, ...usual, ...state }),
    )
  }
  const columnsOf = async (host: string): Promise<string[] | undefined> =>
    (await run(['status', '--fleet', '--at', store]))
      .split('\n')
      .find((line) => line.startsWith(host))
      ?.split(/ {2,}/)

  it('tells what waits in any data folder of a host', async () => {
    const late = { waiting: 2, refusals: 1, oldestWaiting: minutes(-90), trouble: 'no such bucket' }
    told('a', { host: 'laptop', shipped: 3, ...late, at: minutes(-2) })
    told('b', { host: 'laptop', shipped: 4, refusals: 2 })
    const columns = await columnsOf('laptop')
    expect(columns).toEqual(expect.arrayContaining(['90m', '7', '3', 'no such bucket']))
  })

  it('tells of a host whose clock is ahead, and how long its segments wait by that clock', async () => {
    told('a', { host: 'ahead', waiting: 1, oldestWaiting: minutes(50), at: minutes(60) })
    expect(await columnsOf('ahead')).toEqual(expect.arrayContaining(['10m', 'its clock is 60m ahead']))
  })
})

describe('record --seal-after', () => {
  it('starts a new file at that age, and each file is complete', async () => {
    const actor = stage.start([process.execPath, cli, 'record', '--quiet', '--seal-after', '1s', '--', 'cat'])
    const say = (method: string): Promise<void> => actor.send(`{"jsonrpc":"2.0","method":"${method}"}\n`)
    await say('first')
    const files = (): string[] =>
      existsSync(recordings) ? readdirSync(recordings).filter((name) => name.endsWith('.jsonl')) : []
    let said = 0
    await until('a second file', async () => {
      await say(`more-${(said += 1)}`)
      return files().length >= 2
    })
    actor.stdin.end()
    expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
    const texts = files().map((name) => readFileSync(join(recordings, name), 'utf8'))
    for (const text of texts) {
      const records = lines(text) as { type?: string }[]
      expect(records[0]).toMatchObject({ type: 'meta' })
      expect(records.at(-1)).toMatchObject({ type: 'end' })
    }
    const sent = texts.join('').match(/"method":"more-\d+"/g) ?? []
    expect(new Set(sent).size).toBe(said)
    expect(sent).toHaveLength(said * 2)
  })
})

describe.each(['http/json', 'http/protobuf'])(
  'the metrics of shippers and collectors over %s',
  (protocol) => {
    it('tell lag, bytes and refusals, with the last report when they end', async () => {
      const receiver = await startReceiver()
      try {
        await record('shop')
        const otlp = ['--otlp', receiver.url, '--otlp-protocol', protocol]
        await run(['ship', '--to', store, ...otlp])
        const shipper = receiver.metrics().at(-1)!
        expect(countOf(shipper['wiretape.shipper.segments'])).toBe(1)
        expect(countOf(shipper['wiretape.shipper.sent'])).toBeGreaterThan(0)
        for (const name of ['waiting', 'lag', 'refusals', 'failures'])
          expect(countOf(shipper[`wiretape.shipper.${name}`])).toBe(0)
        await run(['collect', '--from', store, '--to', store, '--once', ...otlp])
        const collector = receiver.metrics().at(-1)!
        expect(countOf(collector['wiretape.collector.messages'])).toBe(2)
        expect(countOf(collector['wiretape.collector.dead'])).toBe(0)
        for (const name of ['waiting', 'lag'])
          expect(countOf(collector[`wiretape.collector.${name}`])).toBe(0)
        const services = receiver.requests.map(({ sent }) => attributesOf(sent.resourceMetrics[0].resource))
        expect(services).toMatchObject([
          { 'service.name': 'wiretape-ship' },
          { 'service.name': 'wiretape-collect' },
        ])
        expect(receiver.faults).toEqual([])
      } finally {
        await receiver.close()
      }
    })
  },
)
