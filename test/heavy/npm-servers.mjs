// @ts-check
/**
 * Popular servers from npm, each recorded twice and replayed once. An unchanged server must be the same without
 * options, one changed word in a response must be found, and `check` must find only the known faults of the server. The
 * recordings of the first eight are also read in the viewer (needs Chromium).
 *
 * Usage: node test/heavy/npm-servers.mjs [SERVER…]
 *
 * NPM_SERVERS names a folder in which installed packages stay.
 */
import { execFile } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { findChromium, launch } from '../../bench/lib/browser.mjs'
import { readInViewer } from './npm-servers/journey.mjs'
import { servers } from './npm-servers/servers.mjs'

const root = resolve(import.meta.dirname, '../..')
const cli = join(root, 'dist/bin/wiretape.js')
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'wiretape-npm-')))
const cache = process.env['NPM_SERVERS'] ?? join(folder, 'packages')
/** Fewest servers that must install and start; with fewer the run proves too little. */
const fewest = 20
/** Findings in all servers, by level and rule. @type {Map<string, number>} */
const findings = new Map()
/** @typedef {{ recordings: { findings: { level: string, rule: string, tool?: string, message: string }[] }[] }} Checked */
const installMs = 180_000
const commandMs = 60_000
const readInBrowser = 8
/** Servers tried side by side: installing one waits for the network, and servers wait for their clients. */
const lanes = 2
let inBrowser = 0
const browser = findChromium() === undefined ? undefined : await launch()

/** A process in front of a server. CHANGE is the number of the tool call in whose response it changes one word. */
const changer = `import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
const server = spawn(process.execPath, process.argv.slice(2), { stdio: ['pipe', 'pipe', 'ignore'] })
const calls = []
process.stdin.pipe(server.stdin)
createInterface(process.stdin).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  if (method === 'tools/call') calls.push(id)
})
const longest = (text) => (text.match(/(?<![\\w/.-])[a-z]{3,}(?![\\w/.-])/g) ?? []).sort((a, b) => b.length - a.length)[0]
for await (const line of createInterface(server.stdout)) {
  let message
  try { message = JSON.parse(line) } catch {}
  if (message && process.env.CHANGE && message.id !== undefined && message.id === calls[Number(process.env.CHANGE)]) {
    const whole = JSON.stringify(message.result)
    const text = message.result?.content?.map((block) => block.text ?? '').join(' ') ?? whole
    const word = longest(text) ?? text.match(/\\d/)?.[0]
    const other = /\\d/.test(word) ? String((Number(word) + 1) % 10) : word.split('').reverse().join('') + 'x'
    process.stdout.write(JSON.stringify({ ...message, result: JSON.parse(whole.replace(word, other)) }) + '\\n')
  } else process.stdout.write(line + '\\n')
}
`

try {
  await main()
} finally {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  const wanted = process.argv.slice(2)
  writeFileSync(join(folder, 'changer.mjs'), changer)
  const count = { passed: 0, failed: 0, left: 0 }
  const left = Object.entries(servers).filter(([name]) => wanted.length === 0 || wanted.includes(name))
  const lane = async () => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const outcome = await tryOne(...next)
      count[outcome] += 1
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  console.log(`${count.passed} passed, ${count.failed} failed, ${count.left} left out`)
  for (const [name, n] of [...findings].toSorted(([a], [b]) => a.localeCompare(b)))
    console.log(`finding   ${n} × ${name}`)
  const enough = wanted.length > 0 || count.passed >= fewest
  process.exitCode = count.failed === 0 && enough ? 0 : 1
}

/**
 * Where one server is tried. `work` is its folder, of every run anew, under the same name: arguments say it.
 *
 * @typedef {{ server: import('./npm-servers/servers.mjs').Server, command: string[], at: string, work: string }} Trial
 */

/** @param {string} name @param {import('./npm-servers/servers.mjs').Server} server */
async function tryOne(name, server) {
  const at = join(folder, 'trials', name.replaceAll(' ', '-'))
  const work = join(at, 'work')
  const command = (await install(name, server))?.map((word) => inWork(word, work))
  if (command === undefined) {
    console.log(`left out  ${name}: ${server.package} cannot be installed here`)
    return 'left'
  }
  const trial = { server, command, at, work }
  let troubles = await tryServer(trial)
  if (troubles.length > 0) {
    // A busy machine may delay a server's timers, so a failed server is tried again; a fault of wiretape fails again.
    console.log(`again     ${name}: ${troubles[0]?.split('\n')[0]}`)
    troubles = await tryServer(trial)
  }
  if (browser && troubles.length === 0 && inBrowser < readInBrowser) {
    inBrowser += 1
    troubles.push(...(await readInViewer(browser, cli, tape(trial, 'first'))))
  }
  console.log(`${troubles.length === 0 ? 'ok      ' : 'FAILED  '}  ${name}`)
  for (const trouble of troubles) console.log(trouble.replaceAll(/^/gm, '          '))
  return troubles.length === 0 ? 'passed' : 'failed'
}

/** @param {string} name @param {import('./npm-servers/servers.mjs').Server} server @returns {Promise<string[] | undefined>} */
async function install(name, { package: spec, bin, file: own, args = [] }) {
  const at = join(cache, name.replaceAll(' ', '-'))
  const file = own === undefined ? join(at, 'node_modules/.bin', bin ?? '') : join(at, own)
  if (!existsSync(own === undefined ? file : join(at, 'node_modules'))) {
    mkdirSync(at, { recursive: true })
    writeFileSync(join(at, 'package.json'), '{ "private": true }\n')
    const options = ['--no-audit', '--no-fund', '--silent']
    await run('npm', ['install', ...options, spec], { cwd: at, timeout: installMs })
  }
  if (own !== undefined && existsSync(join(at, 'node_modules'))) {
    copyFileSync(join(import.meta.dirname, 'npm-servers', own), file)
    return [file, ...args]
  }
  return existsSync(file) ? [realpathSync(file), ...args] : undefined
}

/** @param {Trial} trial */
async function tryServer(trial) {
  const troubles = []
  let calls
  try {
    calls = await record(trial, 'first')
    await record(trial, 'second')
    await record(trial, 'changed', String(lastGood(calls)))
  } catch (problem) {
    return [`cannot be recorded: ${problem instanceof Error ? problem.message : String(problem)}`]
  }
  const changed = { CHANGE: String(lastGood(calls)) }
  const front = [process.execPath, join(folder, 'changer.mjs'), ...trial.command]
  const first = tape(trial, 'first')
  const replay = (/** @type {Record<string, string>} */ more) => {
    prepare(trial)
    return wiretape(trial, ['replay', first, '--', ...front], { ...environment(trial), ...more })
  }
  const shows = (/** @type {Ran} */ run) => `${run.stdout}${run.stderr}`
  const diff = (/** @type {string} */ name) => wiretape(trial, ['diff', first, tape(trial, name)])
  const same = { diff: await diff('second'), replay: await replay({}) }
  for (const [what, run] of Object.entries(same))
    if (run.status !== 0) troubles.push(`${what} of the unchanged server: exit ${run.status}\n${shows(run)}`)
  const other = { diff: await diff('changed'), replay: await replay(changed) }
  for (const [what, run] of Object.entries(other))
    if (run.status !== 1 || !/ 1 (?:changed|error now|fixed now)/.test(run.stdout))
      troubles.push(`${what} of the changed server: exit ${run.status}\n${shows(run)}`)
  troubles.push(...(await unexpectedFindings(trial, first)))
  if (process.env['SHOW']) console.log(shows(same.diff), shows(same.replay), shows(other.diff))
  return troubles
}

/**
 * Findings in the recording of a working server that are not among its known faults.
 *
 * @param {Trial} trial @param {string} file
 */
async function unexpectedFindings(trial, file) {
  const { faults = {} } = trial.server
  const { stdout } = await wiretape(trial, ['check', file, '--no-config', '--json'])
  const { recordings } = /** @type {Checked} */ (JSON.parse(stdout))
  const found = recordings.flatMap(({ findings }) => findings)
  for (const { rule, level } of found)
    findings.set(`${level} ${rule}`, (findings.get(`${level} ${rule}`) ?? 0) + 1)
  const grave = found.filter(({ level }) => level !== 'note')
  const told = grave.filter(({ rule, tool = '' }) => !faults[rule]?.includes(tool))
  const missed = Object.entries(faults).flatMap(([rule, tools]) =>
    tools.filter((tool) => !grave.some((one) => one.rule === rule && (one.tool ?? '') === tool)),
  )
  return [
    ...told.map(({ level, rule, tool = '', message }) => `check: ${level} ${rule} ${tool}: ${message}`),
    ...missed.map((tool) => `check: the known fault of ${tool} was not found`),
  ]
}

/** Number of the last call without an error. @param {boolean[]} calls */
function lastGood(calls) {
  return Math.max(0, calls.lastIndexOf(true))
}

/** @param {Trial} trial @param {string} name */
function tape({ at }, name) {
  const out = join(at, `${name}.tapes`)
  return join(out, /** @type {string} */ (readdirSync(out)[0]))
}

/** The folder as every run finds it. @param {Trial} trial */
function prepare({ work }) {
  rmSync(work, { recursive: true, force: true })
  for (const name of ['files', 'repo', 'tmp', 'bank', 'home'])
    mkdirSync(join(work, name), { recursive: true })
  writeFileSync(join(work, 'files/a.txt'), 'first line\nsecond line\n')
  writeFileSync(join(work, 'repo/a.txt'), 'first line\n')
}

/**
 * @param {Trial} trial @param {string} name @param {string} [change] @returns {Promise<boolean[]>} of each call whether it was answered with a result
 */
async function record(trial, name, change) {
  prepare(trial)
  const { server, command, at, work } = trial
  const out = join(at, `${name}.tapes`)
  rmSync(out, { recursive: true, force: true })
  const client = new Client({ name: 'test', version: '1.0.0' })
  const env = { ...environment(trial), ...(change !== undefined && { CHANGE: change }) }
  const front = [process.execPath, join(folder, 'changer.mjs'), ...command]
  const args = [cli, 'record', '--quiet', '--out', out, '--', ...front]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore', cwd: work }),
  )
  try {
    await client.listTools()
    let said = ''
    const good = []
    for (const [tool, given] of server.calls) {
      const wanted = typeof given === 'function' ? given(said) : given
      const asked = JSON.parse(inWork(JSON.stringify(wanted), work))
      const result = await client.callTool({ name: tool, arguments: asked })
      good.push(result['isError'] !== true)
      said += textOf(result)
    }
    return good
  } finally {
    await client.close()
  }
}

/** @param {Awaited<ReturnType<Client['callTool']>>} result */
function textOf(result) {
  const content = /** @type {{ text?: string }[]} */ (result['content'] ?? [])
  return `${content.map(({ text = '' }) => text).join('\n')}\n${JSON.stringify(result['structuredContent'] ?? '')}\n`
}

/** @param {string} text @param {string} work */
function inWork(text, work) {
  return text.replaceAll('FOLDER', work)
}

/** @param {Trial} trial @returns {Record<string, string>} */
function environment({ server: { env = {} }, work }) {
  const { CI: _ci, VITEST: _vitest, ...inherited } = process.env
  const own = Object.entries(env).map(([name, value]) => [name, inWork(value, work)])
  const person = { GIT_AUTHOR_NAME: 'Ann', GIT_AUTHOR_EMAIL: 'ann@example.org' }
  const committer = { GIT_COMMITTER_NAME: 'Ann', GIT_COMMITTER_EMAIL: 'ann@example.org' }
  return {
    .../** @type {Record<string, string>} */ (inherited),
    ...person,
    ...committer,
    HOME: join(work, 'home'),
    TMPDIR: join(work, 'tmp'),
    ...Object.fromEntries(own),
  }
}

/** @typedef {{ status: number | null, stdout: string, stderr: string }} Ran */

/** @param {Trial} trial @param {string[]} args @param {Record<string, string>} [env] */
function wiretape({ work }, args, env) {
  return run(process.execPath, [cli, ...args], { cwd: work, timeout: commandMs, ...(env && { env }) })
}

/** @param {string} file @param {string[]} args @param {import('node:child_process').ExecFileOptions} options */
function run(file, args, options) {
  return new Promise((/** @type {(ran: Ran) => void} */ done) => {
    const settings = { ...options, encoding: /** @type {const} */ ('utf8'), maxBuffer: Infinity }
    const child = execFile(file, args, settings, (_, stdout, stderr) =>
      done({ status: child.exitCode, stdout, stderr }),
    )
    child.stdin?.end()
  })
}
