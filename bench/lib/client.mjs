// @ts-check
/**
 * A stdio client that is never the bottleneck: raw buffers, no JSON, no line splitting. All responses of one call have
 * the same size. So responses are counted in bytes, and the byte before each boundary must be an LF.
 */
import { spawn } from 'node:child_process'
import { requestsOf } from './requests.mjs'

const LF = 0x0a
/** Longest silence while a response is due. */
const STALL_MS = 30_000

/** @typedef {{ code: number | null, signal: string | null, tookMs: number }} Closed */

/**
 * Starts a process and sends requests to it over stdin and stdout.
 *
 * @param {readonly string[]} command
 */
export function startClient(command) {
  const startedAt = performance.now()
  const child = spawn(command[0] ?? '', command.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
  let received = 0
  let sent = 0
  let closing = false
  /** Called after each chunk with its last byte. @type {(lastByte: number) => void} */
  let onBytes = () => {}
  /** @type {(problem: Error) => void} */
  let onProblem = (problem) => {
    throw problem
  }
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let stalled

  child.stdin.on('error', (error) => onProblem(error))
  child.on('error', (error) => onProblem(error))
  child.on('exit', (code, signal) => {
    if (!closing) onProblem(new Error(`${command.join(' ')} ended unasked with ${signal ?? code}`))
  })

  const read = (/** @type {Buffer} */ chunk) => {
    received += chunk.length
    stalled?.refresh()
    onBytes(chunk[chunk.length - 1] ?? 0)
  }

  /**
   * Calls `step` after each chunk until it returns true.
   *
   * @param {(lastByte: number) => boolean} step
   * @param {() => void} begin
   * @returns {Promise<void>}
   */
  function until(step, begin) {
    if (child.stdout.listenerCount('data') === 0) child.stdout.on('data', read)
    /** @type {Promise<void>} */
    const done = new Promise((resolve, reject) => {
      onProblem = reject
      stalled = setTimeout(() => reject(new Error(`no answer for ${STALL_MS} ms`)), STALL_MS)
      onBytes = (lastByte) => {
        try {
          if (step(lastByte)) resolve()
        } catch (problem) {
          reject(problem)
        }
      }
      begin()
    })
    return done.finally(() => {
      clearTimeout(stalled)
      onBytes = () => {}
    })
  }

  return {
    pid: child.pid ?? 0,
    startedAt,

    /** Requests sent; as many responses were received. */
    exchanges: () => sent,

    /**
     * Sends one request after the other.
     *
     * @param {{ count: number, sizeBytes: number, pauseMs?: number }} options `pauseMs` passes before each but the
     * first
     * @returns {Promise<Float64Array>} The round trips in microseconds.
     */
    async pingPong({ count, sizeBytes, pauseMs = 0 }) {
      const requests = requestsOf(sizeBytes)
      const roundTrips = new Float64Array(count)
      const before = received
      let done = 0
      let sentAt = 0
      const next = () => {
        const request = requests(sent++, 1)
        sentAt = performance.now()
        child.stdin.write(request)
      }
      await until((lastByte) => {
        if (received - before < (done + 1) * sizeBytes) return false
        roundTrips[done++] = (performance.now() - sentAt) * 1000
        if (lastByte !== LF) throw new Error('an answer does not end where it should')
        if (done === count) return true
        if (pauseMs === 0) next()
        else setTimeout(next, pauseMs)
        return false
      }, next)
      return roundTrips
    },

    /**
     * Keeps up to `window` requests in flight.
     *
     * @param {{ count: number, sizeBytes: number, window: number }} options
     * @returns {Promise<number>} Milliseconds from the first request to the last response.
     */
    async pipeline({ count, sizeBytes, window }) {
      const requests = requestsOf(sizeBytes)
      const before = received
      const start = performance.now()
      let asked = 0
      const ask = () => {
        const answered = Math.floor((received - before) / sizeBytes)
        const free = Math.min(window - (asked - answered), count - asked)
        // With small batches, the client's system calls would dominate the measurement.
        if (free < window / 4 && asked + free < count) return
        if (free <= 0) return
        child.stdin.write(requests(sent, free))
        sent += free
        asked += free
      }
      await until((lastByte) => {
        if ((received - before) % sizeBytes === 0 && lastByte !== LF) {
          throw new Error('an answer does not end where it should')
        }
        ask()
        return received - before === count * sizeBytes
      }, ask)
      return performance.now() - start
    },

    /**
     * Reads until `totalBytes` bytes have arrived since the start. Nothing is read from the pipe before the first call
     * of this function, `pingPong` or `pipeline`.
     *
     * @param {number} totalBytes
     */
    async readUntil(totalBytes) {
      await until(
        () => received >= totalBytes,
        () => {},
      )
      return received
    },

    /**
     * Ends stdin and waits for the exit.
     *
     * @returns {Promise<Closed>}
     */
    close() {
      closing = true
      const start = performance.now()
      return new Promise((done, reject) => {
        const late = setTimeout(() => {
          child.kill('SIGKILL')
          reject(new Error(`${command.join(' ')} did not exit within ${STALL_MS} ms of the end of its stdin`))
        }, STALL_MS)
        const finish = () => {
          clearTimeout(late)
          done({ code: child.exitCode, signal: child.signalCode, tookMs: performance.now() - start })
        }
        if (child.exitCode !== null || child.signalCode !== null) return finish()
        child.once('exit', finish)
        child.stdin.end()
      })
    },

    /** Ends the process after a failure. */
    kill() {
      closing = true
      child.kill('SIGKILL')
    },
  }
}
