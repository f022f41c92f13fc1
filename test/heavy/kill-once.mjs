// @ts-check
/** One recorder, one client that sends messages through it, one SIGKILL. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const WITHIN_MS = 400
/** Deadline for the first echo; a recorder without one is broken. */
const FIRST_ECHO_DEADLINE_MS = 20_000
/** Time for the server to notice the end of its stdin and exit. */
const SERVER_DEADLINE_MS = 5000
const echoLines = resolve(import.meta.dirname, '../fixtures/servers/echo-lines.mjs')
/** The shell writes its pid to a file and becomes the server, so that the pid is the server's. */
const PID_FILE_THEN = 'echo $$ > "$0"; exec "$@"'

/** Traffic of the client: a few messages every millisecond, one burst of 200, or as fast as echoes arrive. */
const TRAFFIC = /** @type {const} */ (['steady', 'burst', 'full'])
const MAX_MESSAGES = 6000

/**
 * @typedef {object} Killed
 * @property {string[]} texts What was sent, exactly, by number.
 * @property {number[]} echoedAt When the echo was seen, by number, on the monotonic clock.
 * @property {number} killedAt On the same clock, just before the signal.
 * @property {string[]} problems What went wrong besides the tape.
 * @property {string} summary For the report.
 */

/**
 * A killed recorder leaves its registry entry behind, so the registry must not be in the user's own folders.
 *
 * @param {string} out
 */
export function homeIn(out) {
  return { ...process.env, HOME: out, XDG_DATA_HOME: join(out, 'data') }
}

/** @param {() => number} random @param {number} n @returns {string} A message in a form that a reprint would change. */
function messageText(random, n) {
  const size = random() < 0.1 ? Math.floor(random() * 8000) : Math.floor(random() * 200)
  const odd = ['1.0', '1e2', '12345678901234567890', '-0', '"\\u00e9 é 🎞"', '{"b":1,"a":2,"b":3}'][n % 6]
  return `{"jsonrpc": "2.0","method":"n","params":{ "n":${n},"odd":${odd},"pad":"${'p'.repeat(size)}"}}`
}

/**
 * @param {{ cli: string, out: string, random: () => number }} options
 * @returns {Promise<Killed>}
 */
export async function killOnce({ cli, out, random }) {
  const traffic = TRAFFIC[Math.floor(random() * TRAFFIC.length)] ?? 'steady'
  const server = random() < 0.25 ? [process.execPath, echoLines] : ['cat']
  const fromFirstEcho = random() < 0.5
  const delayMs = random() * WITHIN_MS
  mkdirSync(out, { recursive: true })
  const pidFile = `${out}.pid`

  const record = [cli, 'record', '--out', join(out, 'tapes'), '--label', 'kill', '--quiet', '--']
  const startedAt = performance.now()
  const recorder = spawn(process.execPath, [...record, 'sh', '-c', PID_FILE_THEN, pidFile, ...server], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: homeIn(out),
  })
  const gone = new Promise((done) => recorder.once('close', done))
  let stderrText = ''
  recorder.stderr.on('data', (chunk) => (stderrText += String(chunk)))
  recorder.stdin.on('error', () => {})

  /** @type {string[]} */
  const texts = []
  /** @type {number[]} */
  const echoedAt = []
  /** @type {string[]} */
  const problems = []
  const send = (/** @type {number} */ count) => {
    let batch = ''
    for (let left = count; left > 0 && texts.length < MAX_MESSAGES; left--) {
      const text = messageText(random, texts.length)
      texts.push(text)
      batch += `${text}\n`
    }
    if (batch !== '' && recorder.stdin.writable) recorder.stdin.write(batch)
  }

  /** @type {() => void} */
  let onFirstEcho = () => {}
  const firstEcho = /** @type {Promise<void>} */ (new Promise((done) => (onFirstEcho = done)))
  let rest = ''
  recorder.stdout.setEncoding('utf8')
  recorder.stdout.on('data', (/** @type {string} */ chunk) => {
    const now = performance.now()
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line !== texts[echoedAt.length]) problems.push(`echo ${echoedAt.length} differs from what was sent`)
      echoedAt.push(now)
    }
    onFirstEcho()
    if (traffic === 'full') send(Math.min(lines.length, 32))
  })

  send(traffic === 'burst' ? 200 : 32)
  const ticks = setInterval(() => traffic === 'steady' && send(1 + Math.floor(random() * 4)), 1)
  if (fromFirstEcho) {
    const late = wait(FIRST_ECHO_DEADLINE_MS, 'late', { ref: false })
    if ((await Promise.race([firstEcho, gone, late])) !== undefined) problems.push('no echo came')
  }
  await wait(delayMs)
  clearInterval(ticks)
  if (recorder.exitCode !== null) problems.push(`the recorder had already exited with ${recorder.exitCode}`)
  const killedAt = performance.now()
  recorder.kill('SIGKILL')
  await gone

  if (stderrText !== '') problems.push(`on stderr: ${JSON.stringify(stderrText.slice(0, 200))}`)
  if (!(await serverIsGone(pidFile)))
    problems.push(`the server still ran ${SERVER_DEADLINE_MS} ms after the kill`)
  const atMs = (killedAt - startedAt).toFixed(0)
  const summary = `killed after ${atMs} ms, ${traffic} traffic, ${texts.length} sent, ${echoedAt.length} echoed`
  return { texts, echoedAt, killedAt, problems, summary }
}

/** @param {string} pidFile @returns {Promise<boolean>} Also true when there never was a server. */
async function serverIsGone(pidFile) {
  const deadline = performance.now() + SERVER_DEADLINE_MS
  for (; performance.now() < deadline; await wait(10)) {
    const pid = Number(readIfThere(pidFile))
    if (!(pid > 0) || !isRunning(pid)) return true
  }
  process.kill(Number(readIfThere(pidFile)), 'SIGKILL')
  return false
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  // A zombie, whose new parent has not collected it yet, counts as ended.
  return !/^State:\s+[ZX]/m.test(readIfThere(`/proc/${pid}/status`))
}

/** @param {string} file */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
