// @ts-check
/** Checks a tape whose recorder was killed. */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeIn } from './kill-once.mjs'

/** The promise: the tape is complete except for the last 100 ms. */
const DUE_AFTER_MS = 100

/**
 * @typedef {object} TapeFindings
 * @property {'none' | 'empty' | 'some'} state
 * @property {boolean} torn The last line is not whole.
 * @property {number} messages
 * @property {number} required How many messages had to be there.
 * @property {number} oldestMissingMs
 * @property {boolean} late Messages that had to be there are missing.
 * @property {boolean} recovered
 */

/**
 * @param {{ cli: string, out: string, killed: import('./kill-once.mjs').Killed, recover: boolean }} options
 * @returns {Promise<{ problems: string[], tape: TapeFindings }>}
 */
export async function checkTape({ cli, out, killed, recover }) {
  const problems = [...killed.problems]
  const folder = join(out, 'tapes')
  const names = existsSync(folder) ? readdirSync(folder) : []
  const others = names.filter((name) => !/^\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z-kill\.jsonl$/.test(name))
  if (others.length > 0) problems.push(`left behind: ${others.join(', ')}`)
  if (names.length - others.length > 1) problems.push(`${names.length} tapes`)

  const name = names.find((name) => !others.includes(name))
  const bytes = name === undefined ? '' : readFileSync(join(folder, name), 'utf8')
  /** @type {TapeFindings} */
  const tape = {
    state: name === undefined ? 'none' : bytes === '' ? 'empty' : 'some',
    torn: bytes !== '' && !bytes.endsWith('\n'),
    messages: 0,
    required: 0,
    oldestMissingMs: 0,
    late: false,
    recovered: false,
  }
  const lines = bytes.split('\n')
  const torn = lines.pop() ?? ''
  const onTape = readLines(lines, killed.texts, problems)
  tape.messages = onTape.in + onTape.out
  checkWhatWasDue(killed, onTape, tape, problems)
  // The torn rest must be the start of a valid line.
  if (lines.length === 0 ? !'{"v":1,'.startsWith(torn.slice(0, 7)) : !'{"t":"'.startsWith(torn.slice(0, 6))) {
    problems.push(`the torn line begins with ${torn.slice(0, 40)}`)
  }
  if (recover && name !== undefined && lines.length > 0) {
    const problem = await recoverAndInspect(cli, out, name, tape.messages)
    if (problem === undefined) tape.recovered = true
    else problems.push(problem)
  }
  return { problems: problems.slice(0, 5), tape }
}

/**
 * @param {string[]} lines The complete lines of the tape.
 * @param {string[]} texts The sent messages.
 * @param {string[]} problems
 * @returns {{ in: number, out: number }} Messages by direction; they must be the first ones that were sent.
 */
function readLines(lines, texts, problems) {
  const count = { in: 0, out: 0 }
  for (const [index, line] of lines.entries()) {
    const where = `line ${index + 1}`
    let record
    try {
      record = JSON.parse(line)
    } catch {
      problems.push(`${where} is whole but is not JSON: ${line.slice(0, 80)}`)
      continue
    }
    if (index === 0) {
      if (record.v !== 1 || record.type !== 'meta' || !Array.isArray(record.command))
        problems.push('no valid meta line')
      continue
    }
    if (record.type !== undefined) {
      problems.push(`${where} is of type ${record.type}`)
      continue
    }
    const seq = count.in + count.out
    if (record.seq !== seq) problems.push(`${where} has seq ${record.seq} instead of ${seq}`)
    if (record.dir !== 'in' && record.dir !== 'out') {
      problems.push(`${where} has dir ${record.dir}`)
      continue
    }
    const dir = /** @type {'in' | 'out'} */ (record.dir)
    const text = texts[count[dir]]
    if (text === undefined) problems.push(`${where} was never sent`)
    else if (!line.includes(`"dir":"${dir}","raw":${text},`)) {
      problems.push(`${where}, ${dir}, is not message ${count[dir]} as it was sent: ${line.slice(0, 160)}`)
    }
    count[dir]++
  }
  if (count.out > count.in) problems.push(`${count.out} messages came back of ${count.in}`)
  return count
}

/**
 * @param {import('./kill-once.mjs').Killed} killed
 * @param {{ in: number, out: number }} onTape
 * @param {TapeFindings} tape
 * @param {string[]} problems
 */
function checkWhatWasDue({ echoedAt, killedAt }, onTape, tape, problems) {
  const due = echoedAt.filter((at) => at <= killedAt - DUE_AFTER_MS).length
  tape.required = 2 * due
  const held = Math.min(onTape.in, onTape.out)
  const missingSince = echoedAt[held]
  tape.oldestMissingMs = missingSince === undefined ? 0 : killedAt - missingSince
  tape.late = held < due
  if (!tape.late) return
  const counts = `the tape has ${onTape.in} in and ${onTape.out} out`
  const oldest = `the first one missing was seen ${tape.oldestMissingMs.toFixed(0)} ms before`
  problems.push(`${due} messages were seen ${DUE_AFTER_MS} ms before the kill, ${counts} (${oldest})`)
}

/**
 * @param {string} cli
 * @param {string} out
 * @param {string} name
 * @param {number} messages The expected number in a recovered copy.
 * @returns {Promise<string | undefined>} The fault.
 */
async function recoverAndInspect(cli, out, name, messages) {
  const folder = join(out, 'tapes')
  const tape = join(folder, name)
  const before = readFileSync(tape, 'utf8')
  const recovery = await runCli(cli, ['recover', tape], out)
  if (recovery.code !== 0) return `recover ended with ${recovery.code}: ${recovery.text}`
  if (readFileSync(tape, 'utf8') !== before) return 'recover changed the tape itself'
  const copies = readdirSync(folder).filter((other) => other !== name)
  const copy = join(folder, copies[0] ?? '')
  if (copies.length !== 1) return `recover left ${copies.length} files beside the tape: ${copies.join(', ')}`
  const records = readFileSync(copy, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  if (records.at(-1)?.type !== 'end') return `${copies[0]} is not closed`
  const kept = records.filter((record) => record.type === undefined).length
  if (kept !== messages) return `${copies[0]} holds ${kept} messages instead of ${messages}`
  const inspection = await runCli(cli, ['inspect', '--check', copy], out)
  return inspection.code === 0
    ? undefined
    : `inspect --check ended with ${inspection.code}: ${inspection.text}`
}

/** @param {string} cli @param {string[]} args @param {string} out @returns {Promise<{ code: number | string, text: string }>} */
function runCli(cli, args, out) {
  return new Promise((done) => {
    execFile(
      process.execPath,
      [cli, ...args],
      { maxBuffer: 64 * 1024 * 1024, env: homeIn(out) },
      (error, _stdout, stderr) => {
        done({
          code: error === null ? 0 : (error.code ?? String(error.signal)),
          text: stderr.trim().slice(0, 300),
        })
      },
    )
  })
}
