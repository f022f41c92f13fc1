// @ts-check
/**
 * Tests that `wiretape codegen` generates from recordings of npm servers. Each must pass as generated. When the server
 * responds differently, it must fail with the changed text in its message. Runs in vitest, `node --test` and pytest,
 * there with the standard library and with the official `mcp` package if pip can install it.
 *
 * Usage: node test/heavy/generated-tests.mjs [SERVER…]
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const root = resolve(import.meta.dirname, '../..')
const cli = join(root, 'dist/bin/wiretape.js')
const folder = mkdtempSync(join(tmpdir(), 'wiretape-generated-'))
const files = join(folder, 'files')
const python = join(folder, 'python/bin/python')

/**
 * `change`: a text of its responses, and its replacement in the changed server.
 *
 * @typedef {{ bin: string, args?: string[], calls: [name: string, args: object][], change: [from: string, to: string] }} Server
 * @type {Record<string, Server>}
 */
const servers = {
  everything: {
    bin: 'mcp-server-everything',
    calls: [
      ['echo', { message: 'tea' }],
      ['get-sum', { a: 2, b: 3 }],
      ['get-structured-content', { location: 'New York' }],
      ['get-tiny-image', {}],
    ],
    change: ['The sum of 2 and 3 is 5', 'The sum of 2 and 3 is 6'],
  },
  filesystem: {
    bin: 'mcp-server-filesystem',
    args: [files],
    calls: [
      ['list_directory', { path: files }],
      ['read_text_file', { path: join(files, 'a.txt') }],
      ['get_file_info', { path: join(files, 'a.txt') }],
      ['read_text_file', { path: '/etc/hostname' }],
    ],
    change: ['first line', 'another line'],
  },
  memory: {
    bin: 'mcp-server-memory',
    calls: [
      ['create_entities', { entities: [{ name: 'tea', entityType: 'drink', observations: ['hot'] }] }],
      ['search_nodes', { query: 'tea' }],
      ['delete_entities', { entityNames: ['tea'] }],
      ['read_graph', {}],
    ],
    change: ['"entityType":"drink"', '"entityType":"food"'],
  },
  thinking: {
    bin: 'mcp-server-sequential-thinking',
    calls: [
      ['sequentialthinking', { thought: 'one', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
      [
        'sequentialthinking',
        { thought: 'two', nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 },
      ],
    ],
    change: ['"nextThoughtNeeded":true', '"nextThoughtNeeded":false'],
  },
  time: {
    bin: 'time-mcp',
    calls: [
      ['current_time', { format: 'YYYY-MM-DD HH:mm:ss' }],
      ['days_in_month', { date: '2026-02-01' }],
      ['get_week_year', { date: '2026-03-23' }],
    ],
    change: ['28', '29'],
  },
  calculator: {
    bin: 'calculator-mcp',
    calls: [
      ['add', { a: 2, b: 3 }],
      ['div', { a: 9, b: 3 }],
    ],
    change: ['2 and 3 is 5', '2 and 3 is 6'],
  },
}

/** A process in front of a server, which changes its responses when CHANGE is set. */
const changer = `import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
const [from, to, command, ...args] = process.argv.slice(2)
const inside = (text) => JSON.stringify(text).slice(1, -1)
const server = spawn(command, args, { stdio: ['inherit', 'pipe', 'ignore'] })
const changed = (line) => line.replaceAll(from, to).replaceAll(inside(from), inside(to)).replaceAll(inside(from).replaceAll('":', '": '), inside(to).replaceAll('":', '": '))
for await (const line of createInterface(server.stdout))
  process.stdout.write((process.env.CHANGE && line.includes('"result"') ? changed(line) : line) + '\\n')
`

try {
  await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function main() {
  mkdirSync(files)
  writeFileSync(join(files, 'a.txt'), 'first line\nsecond line\n')
  writeFileSync(join(folder, 'changer.mjs'), changer)
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const packages = [
    '@modelcontextprotocol/server-sequential-thinking@2026',
    'time-mcp@1',
    '@wrtnlabs/calculator-mcp@0',
  ]
  must(run('npm', ['install', '--no-audit', '--no-fund', '--silent', ...packages]))
  // Imports of the generated tests.
  for (const name of [
    'vitest',
    '@modelcontextprotocol/sdk',
    '@modelcontextprotocol/server-everything',
    '@modelcontextprotocol/server-filesystem',
    '@modelcontextprotocol/server-memory',
  ])
    if (!existsSync(join(folder, 'node_modules', name))) {
      mkdirSync(join(folder, 'node_modules', name, '..'), { recursive: true })
      symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    }
  const runners = availableRunners()
  const wanted = process.argv.slice(2)
  let passed = 0
  let failed = 0
  for (const [name, server] of Object.entries(servers)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const tape = await record(name, server)
    for (const runner of runners) {
      const trouble = tryRunner(name, server, tape, runner)
      console.log(
        trouble === undefined
          ? `ok      ${name}, ${runner.name}`
          : `FAILED  ${name}, ${runner.name}: ${trouble}`,
      )
      if (trouble === undefined) passed += 1
      else failed += 1
    }
  }
  console.log(`${passed} passed, ${failed} failed`)
  process.exitCode = failed === 0 && passed > 0 ? 0 : 1
}

/** @typedef {{ name: string, options: string[], file: string, command: (file: string) => string[] }} Runner @returns {Runner[]} */
function availableRunners() {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  /** @type {Runner[]} */
  const runners = [
    {
      name: 'vitest',
      options: ['--to', 'vitest'],
      file: '.test.ts',
      command: (file) => [process.execPath, vitest, 'run', file],
    },
    {
      name: 'node --test',
      options: ['--to', 'node-test'],
      file: '.test.mjs',
      command: (file) => [process.execPath, '--test', file],
    },
  ]
  const pytest = (/** @type {string} */ program) => (/** @type {string} */ file) => [
    program,
    '-m',
    'pytest',
    '-q',
    '-p',
    'no:cacheprovider',
    file,
  ]
  const system = ['/usr/bin/python3', 'python3'].find(
    (program) => run(program, ['-c', 'import pytest']).status === 0,
  )
  if (system === undefined) console.log('left out: pytest, since python3 has none')
  else
    runners.push({
      name: 'pytest, plain',
      options: ['--to', 'pytest', '--client', 'plain'],
      file: '_plain.py',
      command: pytest(system),
    })
  const isInstalled =
    run('python3', ['-m', 'venv', join(folder, 'python')]).status === 0 &&
    run(python, ['-m', 'pip', 'install', '--quiet', '--retries', '1', 'mcp>=2', 'pytest']).status === 0
  if (isInstalled)
    runners.push({
      name: 'pytest, mcp',
      options: ['--to', 'pytest'],
      file: '_mcp.py',
      command: pytest(python),
    })
  else console.log('left out: pytest with mcp, since pip installs no mcp of version 2 here')
  return runners
}

/** @param {string} name @param {Server} server */
async function record(name, server) {
  const out = join(folder, `${name}.tapes`)
  const client = new Client({ name: 'test', version: '1.0.0' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [cli, 'record', '--quiet', '--out', out, '--', ...commandOf(server)],
      env: environment(name),
      stderr: 'ignore',
      cwd: folder,
    }),
  )
  await client.listTools()
  for (const [tool, args] of server.calls) await client.callTool({ name: tool, arguments: { ...args } })
  await client.close()
  return join(out, /** @type {string} */ (readdirSync(out)[0]))
}

/** @param {Server} server */
function commandOf({ bin, args = [], change }) {
  return [process.execPath, join(folder, 'changer.mjs'), ...change, process.execPath, binOf(bin), ...args]
}

/** @param {string} bin */
function binOf(bin) {
  for (const at of [folder, root]) {
    const path = join(at, 'node_modules/.bin', bin)
    if (existsSync(path)) return path
  }
  throw new Error(`${bin} is not installed`)
}

/** @param {string} name @returns {Record<string, string>} */
function environment(name) {
  const { CI: _ci, VITEST: _vitest, ...env } = process.env
  return {
    .../** @type {Record<string, string>} */ (env),
    MEMORY_FILE_PATH: join(folder, `${name}.memory.json`),
    PYTHONDONTWRITEBYTECODE: '1',
  }
}

/**
 * @param {string} name @param {Server} server @param {string} tape @param {Runner} runner
 * @returns {string | undefined} the fault
 */
function tryRunner(name, server, tape, runner) {
  const file = `test_${name}${runner.file}`
  const made = run(process.execPath, [cli, 'codegen', tape, ...runner.options, '--out', file])
  if (made.status !== 0) return made.stderr
  const [program, ...args] = runner.command(file)
  rmSync(join(folder, `${name}.memory.json`), { force: true })
  const first = run(/** @type {string} */ (program), args, environment(name))
  if (first.status !== 0) return `fails as generated:\n${first.stdout}${first.stderr}`
  rmSync(join(folder, `${name}.memory.json`), { force: true })
  const second = run(/** @type {string} */ (program), args, { ...environment(name), CHANGE: '1' })
  if (second.status === 0) return 'passes although an answer changed'
  const [word] = server.change[1].match(/\w+(?=\W*$)/) ?? []
  return `${second.stdout}${second.stderr}`.toLowerCase().includes(word ?? '')
    ? undefined
    : `does not tell what changed:\n${second.stdout}`
}

/** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
function run(program, args, env) {
  return spawnSync(program, args, { cwd: folder, encoding: 'utf8', timeout: 120_000, ...(env && { env }) })
}

/** @param {ReturnType<typeof run>} result */
function must({ status, stderr }) {
  if (status !== 0) throw new Error(stderr)
}
