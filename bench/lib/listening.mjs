// @ts-check
import { spawn } from 'node:child_process'

const LATE_MS = 30_000

/**
 * Starts a Node script that prints its URL as the first line on stdout.
 *
 * @param {readonly string[]} script With its arguments.
 */
export async function startListening(script) {
  const name = script.join(' ')
  const child = spawn(process.execPath, script, { stdio: ['ignore', 'pipe', 'inherit'] })
  /** @type {Promise<{ code: number | null, signal: string | null }>} */
  const exit = new Promise((done) => child.on('exit', (code, signal) => done({ code, signal })))

  /**
   * @template T
   * @param {Promise<T>} promise
   * @param {string} what
   * @returns {Promise<T>}
   */
  function inTime(promise, what) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer
    /** @type {Promise<never>} */
    const late = new Promise((_, fail) => {
      timer = setTimeout(() => {
        child.kill('SIGKILL')
        fail(new Error(`${name} did not ${what} within ${LATE_MS} ms`))
      }, LATE_MS)
    })
    return Promise.race([promise, late]).finally(() => clearTimeout(timer))
  }

  /** @type {Promise<string>} */
  const firstLine = new Promise((done, fail) => {
    let text = ''
    child.stdout.on('data', (chunk) => {
      text += chunk
      if (text.includes('\n')) done(text.slice(0, text.indexOf('\n')))
    })
    child.on('error', fail)
    void exit.then(({ code, signal }) => fail(new Error(`${name} ended unasked with ${signal ?? code}`)))
  })

  return {
    url: await inTime(firstLine, 'listen'),

    /** Sends SIGTERM and waits for the exit. */
    stop() {
      child.kill('SIGTERM')
      return inTime(exit, 'end')
    },

    /** Ends the process at once if it is still running. */
    kill() {
      child.kill('SIGKILL')
      return exit
    },
  }
}
