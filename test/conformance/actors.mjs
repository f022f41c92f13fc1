// @ts-check
/** The processes of a run: all of them end with it, and each has a time limit. */
import { spawn } from 'node:child_process'

/** Time limit of a process, also on a busy machine. */
const longestMs = 300_000
/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()

/** Ends all running processes. */
export function endAll() {
  for (const child of running) child.kill('SIGKILL')
}
process.on('exit', endAll)
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) process.on(signal, () => process.exit(1))

/**
 * @typedef {object} Ending
 * @property {number | null} code
 * @property {string} out
 * @property {string} err
 */

/**
 * @typedef {object} Actor
 * @property {import('node:child_process').ChildProcess} child
 * @property {() => string} out Its stdout so far.
 * @property {() => string} err Its stderr so far.
 * @property {Promise<Ending>} ended
 */

/**
 * @param {string} file
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: NodeJS.ProcessEnv, input?: boolean }} [options] `input` keeps stdin open.
 * @returns {Actor}
 */
export function start(file, args, { cwd, env, input = false } = {}) {
  const child = spawn(file, args, {
    cwd,
    env: env ?? process.env,
    stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const late = setTimeout(() => child.kill('SIGKILL'), longestMs)
  let out = ''
  let err = ''
  child.stdout?.setEncoding('utf8').on('data', (chunk) => (out += chunk))
  child.stderr?.setEncoding('utf8').on('data', (chunk) => (err += chunk))
  /** @type {Promise<Ending>} */
  const ended = new Promise((done, fail) => {
    child.once('error', fail)
    child.once('close', (code) => {
      clearTimeout(late)
      running.delete(child)
      done({ code, out, err })
    })
  })
  return { child, out: () => out, err: () => err, ended }
}

/** Resolves with the first line that the actor writes. @param {Actor} actor @returns {Promise<string>} */
export async function firstLine(actor) {
  const { stdout } = actor.child
  const written = new Promise((/** @type {(value?: undefined) => void} */ done) => {
    const look = () => {
      if (actor.out().includes('\n')) done()
    }
    stdout?.on('data', look)
    look()
  })
  const ending = await Promise.race([written, actor.ended])
  if (ending) throw new Error(`it ended with ${ending.code} before it said anything: ${ending.err}`)
  return actor.out().split('\n')[0] ?? ''
}
