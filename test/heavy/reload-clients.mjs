// @ts-check
/**
 * Clients of other makers keep their connection while the server behind it restarts: mcporter on stdio, and the
 * Inspector on stdio with a running call.
 *
 * Usage: node test/heavy/reload-clients.mjs
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { endAll, start } from '../conformance/actors.mjs'
import { installTools } from '../conformance/tools.mjs'

const tools = installTools()
const folder = mkdtempSync(join(tmpdir(), 'wiretape-reload-'))
const server = resolve(import.meta.dirname, '../fixtures/servers/changing-mcp.mjs')
const state = join(folder, 'state.json')
const version = (/** @type {string} */ text) =>
  writeFileSync(state, JSON.stringify({ version: text, tools: ['version', 'hang'] }))
const recorded = (/** @type {string} */ out) => [
  tools.cli,
  'record',
  '--out',
  join(folder, out),
  '--watch',
  state.slice(folder.length + 1),
  '--',
  process.execPath,
  server,
  state,
]
const inspected = (/** @type {string} */ out) => {
  const where = join(folder, out)
  const [tape] = existsSync(where) ? readdirSync(where) : []
  if (tape === undefined) return ''
  return spawnSync(process.execPath, [tools.cli, 'inspect', join(where, tape)], { encoding: 'utf8' }).stdout
}
/** @param {() => Promise<boolean>} check */
async function until(check) {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await check()) return
    await sleep(100)
  }
  throw new Error('waited in vain')
}

/** One connection, three processes. */
async function mcporter() {
  const prefix = join(folder, 'packages')
  mkdirSync(prefix)
  const { status } = spawnSync('npm', [
    'install',
    '--silent',
    '--no-save',
    '--prefix',
    prefix,
    'mcporter@0.9',
  ])
  if (status !== 0) throw new Error('npm could not install mcporter')
  const { createRuntime } = await import(
    pathToFileURL(join(prefix, 'node_modules/mcporter/dist/index.js')).href
  )
  const command = { kind: 'stdio', command: process.execPath, args: recorded('mcporter'), cwd: folder }
  const runtime = await createRuntime({ servers: [{ name: 'dev', command }] })
  const call = async () => JSON.stringify(await runtime.callTool('dev', 'version'))
  const is = (/** @type {string} */ wanted) => async () =>
    (await call().catch(() => '')).includes(String.raw`\"${wanted}\"`)
  await until(is('1'))
  version('2')
  await until(is('2'))
  version('3')
  await until(is('3'))
  await runtime.close()
  return inspected('mcporter')
}

/** The Inspector's command line makes one call, which is running when the server restarts. */
async function inspector() {
  const launcher = tools.packageFile('@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  const line = ['--method', 'tools/call', '--tool-name', 'hang']
  const argv = [launcher, '--cli', process.execPath, ...recorded('inspector'), ...line]
  const { ended, out, err } = start(tools.node, argv, { cwd: folder, env: { ...process.env, HOME: folder } })
  await until(async () => inspected('inspector').includes('tools/call hang')).catch(() => {
    throw new Error(`it said: ${out()}${err()}`)
  })
  version('4')
  await ended
  const said = out() + err()
  if (!said.includes('restarted before it responded')) throw new Error(`it said: ${said}`)
  return inspected('inspector')
}

let failed = 0
for (const use of [mcporter, inspector]) {
  version('1')
  try {
    const shown = await use()
    if (!/server restarts?/.test(shown)) throw new Error(`no restart on the tape:\n${shown}`)
    console.log(`ok      ${use.name}`)
  } catch (error) {
    failed += 1
    console.log(`failed  ${use.name}: ${String(error)}`)
  }
}
endAll()
rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
process.exitCode = failed === 0 ? 0 : 1
