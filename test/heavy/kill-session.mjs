// @ts-check
/**
 * Kills processes that save a session file with SIGKILL, at random moments. The file must always be a complete session:
 * the previous one, or a later one. And the tape must still convert to a session file.
 *
 * Usage: node test/heavy/kill-session.mjs [--runs N] [--seed N]
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const root = resolve(import.meta.dirname, '../..')
const cli = join(root, 'dist/bin/wiretape.js')
const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'wiretape-kill-session-'))
const older = '"what was there before"'
/** @type {string[]} */
const problems = []
const totals = { older: 0, saved: 0, messages: 0, leftovers: 0 }

/** Numbers in [0, 1) (mulberry32). */
let state = Number(values.seed)
function random() {
  state = (state + 0x6d2b79f5) | 0
  let t = Math.imul(state ^ (state >>> 15), 1 | state)
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
}

/** Waits until a save has begun; machines differ too much for a fixed time. @param {string} place */
async function saving(place) {
  const deadline = performance.now() + 20_000
  while (!readdirSync(place).some((name) => name.endsWith('.tmp') || name === 's.json.bak')) {
    if (performance.now() > deadline) throw new Error('nothing was saved within 20 s')
    await setTimeout(2)
  }
}

/** Kills during an intermediate save. @param {string} place */
async function whileWriting(place) {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'session-writer.mjs'), join(place, 'tape.jsonl'), join(place, 's.json')],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const closed = once(child, 'close')
  await Promise.race([once(child.stdout, 'data'), closed])
  child.stdout.resume()
  if (random() < 0.8) await saving(place)
  await setTimeout(random() * 1_500)
  child.kill('SIGKILL')
  await closed
}

/** Kills during the final save. @param {string} place */
async function atTheEnd(place) {
  const line = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping', params: { text: 'x'.repeat(500) } })
  const server = `process.stdout.write(${JSON.stringify(`${line}\n`)}.repeat(10000))`
  const options = ['--out', place, '--session-file', join(place, 's.json')]
  const child = spawn(process.execPath, [cli, 'record', ...options, '--', process.execPath, '-e', server], {
    stdio: ['pipe', 'ignore', 'inherit'],
    env: { ...process.env, XDG_DATA_HOME: place },
  })
  const closed = once(child, 'close')
  if (random() < 0.8) await saving(place)
  await setTimeout(random() * 1_500)
  child.kill('SIGKILL')
  await closed
}

/** @param {string} place @param {string} name */
function check(place, name) {
  const text = readFileSync(join(place, 's.json'), 'utf8')
  const names = readdirSync(place)
  totals.leftovers += names.filter((each) => each.endsWith('.tmp')).length
  if (text === older) totals.older += 1
  else {
    const session = JSON.parse(text)
    totals.saved += 1
    totals.messages += session.messages.length
    session.messages.forEach((/** @type {any} */ message, /** @type {number} */ n) => {
      if (message.sequence !== n) throw new Error(`message ${n} has the number ${message.sequence}`)
    })
    if (readFileSync(join(place, 's.json.bak'), 'utf8') !== older) throw new Error('the older file is gone')
  }
  const tape = names.find((each) => each.endsWith('.jsonl'))
  if (tape === undefined) return
  // Builds the session file again from the tape: at least as many messages, and no leftovers of a killed save.
  const again = join(place, 's.json')
  execFileSync(process.execPath, [cli, 'recover', join(place, tape), '--session-file', again], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, XDG_DATA_HOME: place },
  })
  const rebuilt = JSON.parse(readFileSync(again, 'utf8'))
  const before = text === older ? 0 : JSON.parse(text).messages.length
  if (rebuilt.messages.length < before) throw new Error(`${name}: recover gave fewer messages`)
  const left = readdirSync(place).filter((each) => each.endsWith('.tmp'))
  if (left.length > 0) throw new Error(`left behind: ${left.join(', ')}`)
}

for (let run = 0; run < Number(values.runs); run += 1) {
  const place = join(folder, String(run))
  mkdirSync(place)
  writeFileSync(join(place, 's.json'), older)
  try {
    await (run % 2 === 0 ? whileWriting(place) : atTheEnd(place))
    check(place, `run ${run}`)
  } catch (error) {
    problems.push(`run ${run}: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (existsSync(place)) rmSync(place, { recursive: true, force: true })
}
rmSync(folder, { recursive: true, force: true })
if (totals.saved === 0 || totals.older === 0) problems.push('all kills came too soon, or too late')
console.log(
  `seed ${values.seed}: ${values.runs} kills, ${totals.saved} saved sessions of ${totals.messages} messages, ` +
    `${totals.older} still the older file, ${totals.leftovers} left copies, ${problems.length} wrong`,
)
for (const problem of problems.slice(0, 10)) console.log(problem)
console.log(`${Number(values.runs) - problems.length} passed, ${problems.length} failed`)
process.exitCode = problems.length === 0 ? 0 : 1
