// @ts-check
/** Client with the interface of `http-client.mjs`; it starts a server and sends its requests over stdio. */
import { spawn } from 'node:child_process'
import { requestsOf } from './requests.mjs'

const REQUEST_BYTES = 100
/** Longest silence while a response is due. */
const STALL_MS = 30_000

/** @typedef {import('./http-client.mjs').HttpClient} HttpClient */
/** @typedef {(line: string) => boolean} Take Takes a message and returns whether it was the last one. */

/**
 * @param {readonly string[]} script For Node, with its arguments.
 * @returns {HttpClient & { close(): Promise<{ code: number | null, signal: string | null }>, kill(): void }}
 */
export function createLinesClient(script) {
  const child = spawn(process.execPath, script, { stdio: ['pipe', 'pipe', 'inherit'] })
  const bodies = requestsOf(REQUEST_BYTES)
  const counts = { in: 0, out: 0 }
  /** Open requests by id. @type {Map<number, { take: Take, done: () => void, fail: (problem: Error) => void }>} */
  const due = new Map()
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let stalled
  let open = ''

  function fail(/** @type {string} */ why) {
    clearTimeout(stalled)
    stalled = undefined
    for (const { fail } of due.values()) fail(new Error(why))
    due.clear()
  }
  /** @type {Promise<{ code: number | null, signal: string | null }>} */
  const exit = new Promise((done) => child.on('exit', (code, signal) => done({ code, signal })))
  void exit.then(({ code, signal }) => fail(`it ended unasked with ${signal ?? code}`))
  child.on('error', (error) => fail(error.message))
  child.stdin.on('error', (error) => fail(error.message))
  child.stdout.on('data', (/** @type {Buffer} */ chunk) => {
    stalled?.refresh()
    const lines = (open + chunk.toString('latin1')).split('\n')
    open = lines.pop() ?? ''
    for (const line of lines) {
      counts.out++
      // Only one request at a time has messages without its id; they belong to the oldest open request.
      const id = Number(/^\{"jsonrpc":"2\.0","id":(\d+),/.exec(line)?.[1] ?? due.keys().next().value)
      const one = due.get(id)
      if (!one) return fail(`a line that was not expected: ${line.slice(0, 120)}`)
      if (!one.take(line)) continue
      due.delete(id)
      one.done()
    }
  })

  /** @param {number} id @param {string | Buffer} line @param {Take} take @returns {Promise<void>} */
  function ask(id, line, take) {
    stalled ??= setTimeout(() => fail(`no answer for ${STALL_MS} ms`), STALL_MS).unref()
    stalled.refresh()
    return new Promise((done, fail) => {
      due.set(id, { take, done, fail })
      child.stdin.write(line)
    })
  }

  /** Sends one request and waits for its response. */
  function roundTrip() {
    const body = bodies(counts.in++, 1)
    const id = Number(body.toString('latin1', '{"jsonrpc":"2.0","id":'.length).split(',', 1)[0])
    return ask(id, body, () => true)
  }

  return {
    counts,

    async roundTrips({ count = Infinity, forMs }) {
      const roundTrips = []
      const end = performance.now() + forMs
      let sentAt = performance.now()
      while (sentAt < end && roundTrips.length < count) {
        await roundTrip()
        const now = performance.now()
        roundTrips.push((now - sentAt) * 1000)
        sentAt = now
      }
      return roundTrips
    },

    /** Keeps as many requests in flight as the HTTP client has connections. */
    async rate({ connections, forMs }) {
      const start = performance.now()
      let answered = 0
      await Promise.all(
        Array.from({ length: connections }, async () => {
          while (performance.now() - start < forMs) {
            await roundTrip()
            answered++
          }
        }),
      )
      return (answered / (performance.now() - start)) * 1000
    },

    async eventDelays(params) {
      /** @type {number[]} */
      const delays = []
      const id = counts.in++
      const request = JSON.stringify({ jsonrpc: '2.0', id, method: 'bench/stream', params })
      await ask(id, `${request}\n`, (line) => {
        const cameAt = performance.timeOrigin + performance.now()
        delays.push((cameAt - Number(/"sentAt":([\d.]+)/.exec(line)?.[1])) * 1000)
        return delays.length === params.events
      })
      if (delays.some(Number.isNaN)) throw new Error('an event has no time')
      return delays
    },

    /** Ends stdin and waits for the exit. */
    close() {
      child.stdin.end()
      return exit
    },

    kill: () => void child.kill('SIGKILL'),
  }
}
