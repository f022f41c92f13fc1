import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Catalogue, SavedCalls } from '../../src/ui-server/index.js'
import { createSaved } from '../../src/ui-server/saved.js'

interface Run {
  readonly name: string | undefined
  readonly signal: AbortSignal
  end(): void
}

let http: Server
/** Runs in progress. */
let runs: Run[]
/** Resolves the waiting of `started`. */
let changed: () => void

beforeEach(async () => {
  runs = []
  changed = () => undefined
  const saved: SavedCalls = {
    folder: '/calls',
    list: async () => [],
    save: async () => '',
    run: ({ name }, _isAllowed, signal) =>
      new Promise((done) => {
        const end = (): void => {
          runs = runs.filter((one) => one !== run)
          done({ exchanges: [] })
          changed()
        }
        const run = { name, signal, end }
        signal.addEventListener('abort', end)
        runs.push(run)
        changed()
      }),
  }
  const answer = createSaved({ saved } as unknown as Catalogue)
  http = createServer((asked, response) => void answer(asked, response))
  await new Promise<void>((done) => http.listen(0, '127.0.0.1', done))
})
afterEach(() => {
  http.closeAllConnections()
  http.close()
})

/** Waits until this many runs are in progress. */
async function started(count: number): Promise<void> {
  while (runs.length !== count) await new Promise<void>((done) => (changed = done))
}

interface Asked {
  readonly answer: Promise<{ readonly status: number; readonly body: string }>
  leave(): void
}

/** Asks for a run of one call, as a page does. */
function run(name: string): Asked {
  const { port } = http.address() as AddressInfo
  const asked = request({ host: '127.0.0.1', port, method: 'POST', path: '/api/saved' })
  const answer = new Promise<{ status: number; body: string }>((done, failed) => {
    asked.once('error', failed)
    asked.once('response', (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text: string) => (body += text))
      response.once('end', () => done({ status: response.statusCode!, body }))
    })
  })
  answer.catch(() => undefined)
  asked.end(JSON.stringify({ type: 'run', file: 'calls/shop.yaml', name }))
  return { answer, leave: () => asked.destroy() }
}

describe('saved calls that pages run', () => {
  it('runs four at once and refuses a fifth, until one has ended', async () => {
    const four = ['a', 'b', 'c', 'd'].map(run)
    await started(4)
    const { status, body } = await run('e').answer
    expect(status).toBe(503)
    expect(body).toContain('4 runs are in progress: wait until one has ended')
    expect(new Set(runs.map(({ name }) => name))).toEqual(new Set(['a', 'b', 'c', 'd']))
    runs[0]!.end()
    await started(3)
    const again = run('f')
    await started(4)
    for (const one of runs) one.end()
    for (const one of [...four, again]) expect((await one.answer).status).toBe(200)
  })

  it('stops the run of a page that has left, and gives its place to another', async () => {
    const four = ['a', 'b', 'c', 'd'].map(run)
    await started(4)
    four[0]!.leave()
    await started(3)
    const again = run('e')
    await started(4)
    for (const one of runs) one.end()
    expect((await again.answer).status).toBe(200)
  })
})
