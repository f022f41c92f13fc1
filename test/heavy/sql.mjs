// @ts-check
/**
 * `wiretape sql` as a user installs it: the package, and DuckDB beside it. Queries recordings of npm servers and
 * compares the rows with the lines of the tapes, with DuckDB over the output of `convert --to parquet`, and with the
 * official client of `wiretape mcp`. Then the same recordings are shipped to an S3 server (npm `s3rver`), collected and
 * queried there.
 *
 * Usage: node test/heavy/sql.mjs
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { askStore } from './sql/ask-store.mjs'
import { installed } from './installed.mjs'

const duckdb = '@duckdb/node-api@1.5.6-r.1'
const root = resolve(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'wiretape-sql-test-'))
const app = join(folder, 'app')
const cli = join(app, 'node_modules/wiretape/dist/bin/wiretape.js')
const data = join(folder, 'data')
const recordings = join(data, 'wiretape/recordings')
const index = join(data, 'wiretape/index')
const env = { ...process.env, XDG_DATA_HOME: data }
const wiretape = installed(cli, env, folder)
/** @type {string[]} */
const wrong = []
let checked = 0
try {
  await main()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const line of wrong) console.log(`WRONG  ${line}`)
console.log(wrong.length === 0 ? `${checked} checks hold` : `${wrong.length} of ${checked} are wrong`)
process.exitCode = wrong.length === 0 ? 0 : 1

async function main() {
  mkdirSync(app)
  mkdirSync(join(folder, 'files'))
  writeFileSync(join(folder, 'files/a.txt'), 'one\n')
  writeFileSync(join(app, 'package.json'), '{"private":true}')
  npm('pack', '--silent', '--ignore-scripts', '--pack-destination', folder)
  const packed = readdirSync(folder).find((name) => name.endsWith('.tgz'))
  npmIn(app, 'install', '--silent', '--no-audit', '--no-fund', join(folder, `${packed}`))
  const missing = wiretape('sql', 'select 1')
  holds(
    'says what to install',
    missing.status === 2 && /DuckDB.*not installed.*npm install/.test(missing.stderr),
  )
  npmIn(app, 'install', '--silent', '--no-audit', '--no-fund', duckdb)
  holds(
    'says that there is nothing to ask',
    /no recordings to query/.test(wiretape('sql', 'select 1').stderr),
  )

  await record('everything', ['mcp-server-everything'], everything)
  await record('reader', ['mcp-server-filesystem', join(folder, 'files')], files)
  await record('memory', ['mcp-server-memory'], memory)
  payloadsAreExact()
  await columnsAreThoseOfParquet()
  viewsAgree()
  otherFormats()
  onlyTheViews()
  hostileTexts()
  await agents()
  await askStore({ folder, env, recordings, cli, holds })
  indexesFollow()
}

/** @param {string} label @param {string[]} command @param {(client: Client) => Promise<void>} talk */
async function record(label, [bin, ...args], talk) {
  const server = join(root, 'node_modules/.bin', `${bin}`)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cli, 'record', '--label', label, '--', server, ...args],
    env,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'sql "check"', version: '1' })
  await client.connect(transport)
  await talk(client)
  await client.close()
}

/** @param {Client} client */
async function everything(client) {
  await client.listTools()
  for (let i = 0; i < 40; i += 1)
    await client.callTool({ name: 'echo', arguments: { message: `tea ${i} é漢\u{1f600}` } })
  await client.callTool({ name: 'get-sum', arguments: { a: 2, b: 3 } })
  await client.callTool({ name: 'get-sum', arguments: { a: 'x' } }).catch(() => undefined)
  await client.callTool({ name: 'no-such-tool', arguments: {} }).catch(() => undefined)
  await client.readResource({ uri: 'nowhere://x' }).catch(() => undefined)
}

/** @param {Client} client */
async function files(client) {
  await client.listTools()
  await client.callTool({ name: 'read_text_file', arguments: { path: join(folder, 'files/a.txt') } })
  await client.callTool({ name: 'read_text_file', arguments: { path: '/etc/hostname' } })
}

/** @param {Client} client */
async function memory(client) {
  await client.listTools()
  await client.callTool({ name: 'read_graph', arguments: {} })
}

function payloadsAreExact() {
  const rows = ask('select recording, seq, payload from messages order by recording, seq')
  const meant = tapes().flatMap((name) =>
    linesOf(name).flatMap((line) => (line.includes('"raw":') ? [JSON.stringify(JSON.parse(line).raw)] : [])),
  )
  holds(
    `payloads are those of the tapes (${rows.length} of ${meant.length})`,
    rows.length === meant.length && rows.every(({ payload }, i) => payload === meant[i]),
  )
  const again = ask('select recording, seq, payload from messages order by payload desc')
  holds(
    'payloads are exact in any order',
    new Set(again.map(({ payload }) => payload)).size === new Set(meant).size,
  )
  const [first] = ask(
    `select count(*) as n from messages where payload->>'$.params.arguments.message' like 'tea % é漢\u{1f600}'`,
  )
  holds('members of payloads are found by path', first?.n === 40)
}

async function columnsAreThoseOfParquet() {
  const { DuckDBInstance } = await import(
    pathToFileURL(join(app, 'node_modules/@duckdb/node-api/lib/index.js')).href
  )
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const columns =
    'session, label, seq, time, offset_ms, direction, kind, method, subject, tool, id, answers, latency_ms, error_code, ' +
    'error_message, is_error, conversation, http_status, modified, cast(size_bytes as integer) as size_bytes, payload'
  for (const name of tapes()) {
    const table = join(folder, `${name}.parquet`)
    wiretape('convert', join(recordings, name), table)
    const told = await connection.runAndReadAll(
      `select ${columns} from '${table}' where seq is not null order by seq`,
    )
    const meant = told.getRowObjectsJson()
    const rows = ask(
      `select ${columns} from messages where recording = '${name}' and not dropped order by seq`,
    )
    holds(`${name}: as many rows as in Parquet`, rows.length === meant.length && rows.length > 5)
    for (const [i, row] of rows.entries())
      for (const [column, value] of Object.entries(row))
        if (JSON.stringify(value) !== JSON.stringify(meant[i][column]))
          wrong.push(
            `${name} #${row.seq} ${column}: ${JSON.stringify(value)}, in Parquet ${JSON.stringify(meant[i][column])}`,
          )
  }
  connection.closeSync()
  instance.closeSync()
}

function viewsAgree() {
  const [counts] = ask(`select (select count(*) from messages where kind = 'request') as requests,
    (select count(*) from exchanges) as exchanges, (select sum(messages) from sessions) as told, (select count(*) from messages) as messages,
    (select count(*) from sessions where server is not null and client = 'sql "check" 1' and exit_code is not null) as sessions`)
  holds('a row an exchange', counts?.requests === counts?.exchanges)
  holds('sessions count their messages', Number(counts?.told) === counts?.messages && counts?.sessions === 3)
  const tools = ask(
    "select tool, calls, errors, offered from tools where server like 'mcp-servers/everything%' and calls > 0 order by tool",
  )
  holds(
    'tools are counted',
    JSON.stringify(tools) ===
      JSON.stringify([
        { tool: 'echo', calls: 40, errors: 0, offered: true },
        { tool: 'get-sum', calls: 2, errors: 1, offered: true },
        { tool: 'no-such-tool', calls: 1, errors: 1, offered: false },
      ]),
  )
  const { recordings: told } = JSON.parse(
    wiretape('check', ...tapes().map((name) => join(recordings, name)), '--json', '--no-config').stdout,
  )
  const found = told.flatMap((/** @type {any} */ one) => one.findings)
  const rules = ask('select rule from findings order by rule').map(({ rule }) => rule)
  holds(
    `findings are those of check (${rules.length})`,
    JSON.stringify(rules) ===
      JSON.stringify(found.map((/** @type {any} */ one) => one.rule?.id ?? one.rule).toSorted()),
  )
  const [others] = ask("select count(*) as n from others where kind = 'stderr'")
  holds('stderr is in others', Number(others?.n) > 0)
  const table = wiretape('sql', 'select recording, count(*) as n from messages group by recording')
  holds('a table for people', table.stdout.split('\n').length > 4 && /3 rows/.test(table.stdout))
  const control = wiretape('sql', "select chr(27) || '[31mred' as x")
  holds('control characters are escaped', !control.stdout.includes('\u001b'))
  const lines = wiretape('sql', 'select seq from messages limit 3', '--jsonl').stdout.trim().split('\n')
  holds('a line a row', lines.length === 3 && lines.every((line) => 'seq' in JSON.parse(line)))
}

function otherFormats() {
  const [name = ''] = tapes()
  const query = 'select seq, kind, method, payload from messages order by seq'
  const meant = JSON.stringify(ask(query, '--in', name))
  const file = join(folder, 'session.json')
  wiretape('convert', join(recordings, name), file)
  holds('a session file is asked as the tape', JSON.stringify(ask(query, '--in', file)) === meant)
  holds('a label stands for its recordings', ask(query, '--in', 'reader').length > 0)
  const left = readdirSync(index)
  holds(
    'files elsewhere leave no index',
    left.every((file) => !file.includes('session')) && left.length >= tapes().length,
  )
}

function indexesFollow() {
  const modes = readdirSync(index).map((name) => statSync(join(index, name)).mode & 0o077)
  holds('indexes are private', modes.every((mode) => mode === 0) && (statSync(index).mode & 0o077) === 0)
  const [name = ''] = tapes()
  const count = () => Number(ask('select count(*) as n from messages', '--in', name)[0]?.n)
  const before = count()
  appendFileSync(
    join(recordings, name),
    '{"t":"2026-08-01T10:00:00.000Z","dir":"in","raw":{"jsonrpc":"2.0","method":"later"}}\n',
  )
  holds('a recording that grew is asked as it is', count() === before + 1)
  const files = readdirSync(index).length
  rmSync(join(recordings, name))
  holds(
    'deleted recordings are not asked',
    ask(`select 1 from messages where recording = '${name}'`).length === 0,
  )
  holds('their indexes go', readdirSync(index).length < files)
  const pruned = wiretape('prune', '--keep-size', '1KB')
  if (tapes().length > 0) wrong.push(pruned.stdout + pruned.stderr)
  holds('prune deletes indexes', tapes().length === 0 && readdirSync(index).length === 0)
}

function onlyTheViews() {
  for (const sql of [
    "select * from read_text('/etc/passwd')",
    "select * from '/etc/passwd'",
    `copy messages to '${join(folder, 'out.csv')}'`,
    `attach '${join(folder, 'x.db')}'`,
    'install httpfs',
    'set enable_external_access = true',
    "select recorded_text('/etc/passwd', 0, 0, 10)",
    `select * from read_blob('${join(recordings, tapes()[0] ?? 'x')}')`,
    'selec 1',
    'select * from nothing',
  ]) {
    const { status, stderr } = wiretape('sql', sql)
    holds(
      `refused: ${sql}`,
      status === 2 && stderr.startsWith('wiretape: ') && stderr.trim().split('\n').length === 1,
    )
  }
}

/** JSON of MCP servers may have half of a surrogate pair; the engine does not accept it. */
function hostileTexts() {
  const path = join(recordings, 'hostile.jsonl')
  const t = '2026-08-01T10:00:00.000Z'
  const half = '\\ud800'
  const lines = [
    `{"v":1,"type":"meta","startedAt":"${t}","label":"${half}","command":["${half}"],"mcpTapVersion":"wiretape 0.1.0"}`,
    `{"t":"${t}","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}`,
    `{"t":"${t}","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"bad","description":"${half}"}]}}}`,
    '{"type":"end","exit":99999999999999}',
  ]
  writeFileSync(path, lines.map((line) => `${line}\n`).join(''))
  holds('tools are there beside a hostile one', ask('select tool from tools where calls > 0').length > 3)
  holds('sessions are there beside a hostile one', ask('select * from sessions').length === 4)
  const strict = wiretape('sql', "select payload->>'$.id' from messages")
  holds(
    'a payload that is no JSON is explained',
    strict.status === 2 && strict.stderr.includes('try(payload'),
  )
  holds('and can be passed over', ask("select try(payload->>'$.id') as id from messages").length > 50)
  rmSync(path)
}

async function agents() {
  const client = new Client({ name: 'agent', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [cli, 'mcp'],
      env,
      stderr: 'ignore',
    }),
  )
  const { tools } = await client.listTools()
  holds(
    'agents have the tool',
    tools.some(({ name }) => name === 'sql'),
  )
  const answer = await client.callTool({
    name: 'sql',
    arguments: { query: 'select count(*) as n from messages' },
  })
  const { items } = /** @type {{ items: { n: number }[] }} */ (answer.structuredContent)
  holds('agents ask', Number(items[0]?.n) > 0)
  await engineStaysOpen(client)
  const refused = await client.callTool({ name: 'sql', arguments: { query: "select * from '/etc/passwd'" } })
  holds('agents read nothing else', refused.isError === true && !JSON.stringify(refused).includes('root:'))
  await client.close()
}

/** A long-running engine must see changes since the last query. @param {Client} client */
async function engineStaysOpen(client) {
  const path = join(recordings, 'later.jsonl')
  const t = '2026-08-01T10:00:00.000Z'
  const line = (/** @type {string} */ method) =>
    `{"t":"${t}","dir":"in","raw":{"jsonrpc":"2.0","method":"${method}"}}\n`
  const asked = async (/** @type {string} */ query) => {
    const { structuredContent, isError } = await client.callTool({ name: 'sql', arguments: { query } })
    const answer = /** @type {{ items: any[], more: string | null } | undefined} */ (structuredContent)
    return { items: answer?.items ?? [], more: answer?.more ?? '', isError }
  }
  const later = async () => {
    const { items } = await asked(
      "select payload->>'$.method' as m from messages where recording = 'later.jsonl'",
    )
    return items.map(({ m }) => m).join(' ')
  }
  writeFileSync(
    path,
    `{"v":1,"type":"meta","startedAt":"${t}","label":"later","command":["x"],"mcpTapVersion":"wiretape 0.1.0"}\n${line('one')}`,
  )
  holds('agents see a new recording', (await later()) === 'one')
  appendFileSync(path, line('two'))
  holds('agents see what a recording has grown by', (await later()) === 'one two')
  const many = await Promise.all([later(), later(), asked('select * from sessions'), later()])
  holds('agents ask at the same time', many[0] === 'one two' && many[3] === 'one two')
  const replaced = `${readFileSync(path, 'utf8').split('\n')[0]}\n${line('ten')}`
  rmSync(path)
  writeFileSync(path, replaced)
  holds('agents see a replaced recording', (await later()) === 'ten')
  rmSync(path)
  holds('agents do not see a deleted recording', (await later()) === '')
  const long = await asked('select range as i from range(10000000)')
  holds('agents get the beginning of a long answer', long.items.length > 10 && long.more.includes('cursor'))
  const made = await asked('create table x as select 1 as a; select a from x')
  holds('statements that make a table work, alone', made.items[0]?.a === 1)
  holds('and leave nothing behind', (await asked('select a from x')).isError === true)
  const file = join(index, 'x.csv')
  holds('nothing is written to the index', (await asked(`copy (select 1) to '${file}'`)).isError === true)
  holds('nor by explaining', (await asked(`explain analyze copy (select 1) to '${file}'`)).isError === true)
}

/** @param {string} sql @param {string[]} more @returns {Record<string, any>[]} */
function ask(sql, ...more) {
  const { stdout, stderr, status } = wiretape('sql', sql, '--json', ...more)
  if (status === 0) return JSON.parse(stdout)
  wrong.push(`${sql}: exit ${status} ${stderr}`)
  return []
}

function tapes() {
  return readdirSync(recordings).toSorted()
}

/** @param {string} name */
function linesOf(name) {
  return readFileSync(join(recordings, name), 'utf8').split('\n')
}

/** @param {string[]} args */
function npm(...args) {
  npmIn(root, ...args)
}

/** @param {string} cwd @param {string[]} args */
function npmIn(cwd, ...args) {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
}

/** @param {string} what @param {boolean | void} is */
function holds(what, is) {
  checked += 1
  if (is !== true) wrong.push(what)
}
