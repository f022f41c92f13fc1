import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { runs } from '../long.js'
import { parse as parseYaml, stringify as stringifyYaml } from 'yaml'
import {
  applyPlan,
  findClients,
  openLedger,
  planInstall,
  planUninstall,
  readWrapping,
  type Places,
} from '../../src/clients/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-install-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let home = ''
let count = 0
beforeEach(() => {
  home = join(folder, String((count += 1)))
  mkdirSync(home)
})

function placesOf(): Places {
  return { home, cwd: join(home, 'project'), platform: 'linux', env: {} }
}

function put(path: string, text: string | Buffer): void {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}

function get(path: string): string {
  return readFileSync(join(home, path), 'utf8')
}

async function install(client: string): Promise<string[]> {
  const found = await findClients(placesOf(), [client])
  const plan = await planInstall(found, {
    folder: placesOf().cwd,
    launcher: join(home, 'data folder', 'bin', 'wiretape-launcher'),
    keep: '30d,2GB',
    more: [],
    names: [],
    tracked: false,
    isTracked: async () => false,
    probe: async () => undefined,
    now: () => new Date(0),
  })
  const ledger = await openLedger(join(home, 'data folder'))
  expect(await applyPlan(plan.files, ledger)).toEqual([])
  return plan.servers.map(({ outcome, reason }) => reason ?? outcome)
}

async function uninstall(client: string, withLedger = true): Promise<string[]> {
  const ledger = await openLedger(join(home, withLedger ? 'data folder' : 'elsewhere'))
  const plan = await planUninstall(await findClients(placesOf(), [client]), ledger, [])
  expect(await applyPlan(plan.files, ledger)).toEqual([])
  return plan.servers.map(({ outcome, reason }) => reason ?? outcome)
}

async function serversOf(client: string): Promise<string[]> {
  const found = await findClients(placesOf(), [client])
  return found.flatMap(({ files }) =>
    files.flatMap(({ servers }) =>
      servers.map(({ launch }) => {
        const wrapping = readWrapping(launch)
        return typeof wrapping === 'object' ? wrapping.original.kind : 'unrecorded'
      }),
    ),
  )
}

/** Text in a file's hands: white space, comments and commas as people leave them. */
interface Layout {
  readonly eol: string
  readonly indent: string
  readonly bom: boolean
  readonly comments: boolean
  readonly trailing: boolean
  readonly inline: boolean
}

const layouts: fc.Arbitrary<Layout> = fc.record({
  eol: fc.constantFrom('\n', '\r\n'),
  indent: fc.constantFrom('  ', '    ', '\t', '   '),
  bom: fc.boolean(),
  comments: fc.boolean(),
  trailing: fc.boolean(),
  inline: fc.boolean(),
})

const words = fc.oneof(
  fc.constantFrom(
    'npx',
    '-y',
    '--',
    'record',
    '/data dir/x',
    'a"b',
    'ü€😀',
    '\\',
    '${TOKEN}',
    'C:\\x\\y.exe',
    '',
  ),
  fc.string({ maxLength: 12 }),
)
const names = fc.oneof(
  fc.constantFrom('files', 'git hub', '__proto__', 'a.b'),
  fc.string({ minLength: 1, maxLength: 8 }),
)

interface Server {
  readonly name: string
  readonly entry: Readonly<Record<string, unknown>>
}

const stdio = fc.record(
  {
    command: fc.oneof(fc.constantFrom('npx', '/usr/bin/node'), fc.string({ minLength: 1, maxLength: 9 })),
    args: fc.array(words, { maxLength: 4 }),
    env: fc.dictionary(fc.constantFrom('A', 'TOKEN'), fc.string({ maxLength: 6 }), { noNullPrototype: true }),
    disabled: fc.boolean(),
  },
  { requiredKeys: ['command'], noNullPrototype: true },
)
const remote = fc.record(
  {
    type: fc.constantFrom('http', 'sse'),
    url: fc.constantFrom('https://mcp.example/mcp', 'http://127.0.0.1:9/a/b'),
    headers: fc.dictionary(fc.constantFrom('Authorization', 'X-Api-Key'), fc.string({ maxLength: 8 }), {
      noNullPrototype: true,
    }),
    timeout: fc.integer({ min: 0, max: 99 }),
  },
  { requiredKeys: ['url'], noNullPrototype: true },
)
const someServers: fc.Arbitrary<Server[]> = fc.array(
  fc.record({ name: names, entry: fc.oneof(stdio, remote) }),
  { minLength: 1, maxLength: 4 },
)

/** JSON in a person's layout. Duplicate names are written as they come. */
function writeJson(servers: readonly Server[], layout: Layout): string {
  const { eol, indent, comments, trailing, inline } = layout
  const print = (value: unknown, depth: number): string => {
    if (typeof value !== 'object' || value === null) return JSON.stringify(value)
    const isList = Array.isArray(value)
    const parts = isList
      ? value.map((item) => print(item, depth + 1))
      : Object.entries(value).map(
          ([key, item]) => `${JSON.stringify(key)}:${inline ? '' : ' '}${print(item, depth + 1)}`,
        )
    const [open, close] = isList ? '[]' : '{}'
    if (parts.length === 0) return `${open}${close}`
    if (inline && depth > 1) return `${open}${parts.join(',')}${close}`
    const pad = eol + indent.repeat(depth + 1)
    const comment = comments ? ` // note, "${depth}"${pad}` : ''
    const end = comments ? ` /* , ] } */${trailing ? ',' : ''}` : trailing ? ',' : ''
    return `${open}${comment}${pad}${parts.join(`,${pad}`)}${end}${eol}${indent.repeat(depth)}${close}`
  }
  const map = servers.map(({ name, entry }) => `${JSON.stringify(name)}: ${print(entry, 2)}`)
  const body = `{${eol}${indent}"mcpServers": {${eol}${map.join(`,${eol}`)}${eol}${indent}},${eol}"other": [1.0, 2e1]${eol}}${eol}`
  return (layout.bom ? '\ufeff' : '') + body
}

describe('install and uninstall', () => {
  it('are the identity on the bytes of any JSON file', async () => {
    await fc.assert(
      fc.asyncProperty(someServers, layouts, async (servers, layout) => {
        const text = writeJson(servers, layout)
        put('.cursor/mcp.json', text)
        const outcomes = await install('cursor')
        const once = get('.cursor/mcp.json')
        expect(await install('cursor')).not.toContain('changed')
        expect(get('.cursor/mcp.json')).toBe(once)
        if (outcomes.includes('changed')) expect(once).not.toBe(text)
        await uninstall('cursor')
        expect(get('.cursor/mcp.json')).toBe(text)
      }),
      { numRuns: runs(200) },
    )
  })

  it('are the identity on what a client makes of the file when it writes it again, with and without the store', async () => {
    const indents = fc.constantFrom<string | number | undefined>(2, 4, '\t', undefined)
    await fc.assert(
      fc.asyncProperty(
        someServers,
        layouts,
        indents,
        fc.boolean(),
        async (servers, layout, indent, withStore) => {
          const plain = { ...layout, comments: false, trailing: false, bom: false }
          const text = writeJson(servers, plain)
          const rewrite = (each: string): string => JSON.stringify(JSON.parse(each), null, indent)
          put('.cursor/mcp.json', text)
          await install('cursor')
          put('.cursor/mcp.json', rewrite(get('.cursor/mcp.json')))
          await uninstall('cursor', withStore)
          expect(get('.cursor/mcp.json')).toBe(rewrite(text))
        },
      ),
      { numRuns: runs(200) },
    )
  })

  it('are the identity on YAML lists of servers, also after a rewrite', async () => {
    await fc.assert(
      fc.asyncProperty(someServers, fc.boolean(), fc.boolean(), async (servers, flow, rewritten) => {
        const unique = new Map(servers.map((server) => [server.name, server]))
        const list = [...unique.values()].map(({ name, entry }) => ({ name, ...entry }))
        const body = stringifyYaml({ name: 'x', mcpServers: list }, flow ? { collectionStyle: 'flow' } : {})
        const text = `# comment\n${body}# end\n`
        put('.continue/config.yaml', text)
        await install('continue')
        if (rewritten) put('.continue/config.yaml', stringifyYaml(parseYaml(get('.continue/config.yaml'))))
        await uninstall('continue')
        expect(get('.continue/config.yaml')).toBe(rewritten ? stringifyYaml(parseYaml(text)) : text)
      }),
      { numRuns: runs(200) },
    )
  })

  const toml = `# My servers
model = "x" # keep

[mcp_servers.files]
command = "npx" # the launcher
args = ["-y", 'server', "multi"] 
startup_timeout_sec = 1_000

[mcp_servers.files.env]
A = "1"

[mcp_servers."git hub"]
command = 'C:\\x.exe'

[mcp_servers.inline]
env = { B = "2" }
command="node"
args=[
  "a", # first
  "b",
]

[mcp_servers.far]
url = "https://mcp.example/mcp"
http_headers = { "X-Key" = "v" }
`
  it('leave one entry alone that cannot be changed by place, and change the others', async () => {
    const text = 'mcp_servers.dots.command = "node"\n[mcp_servers.table]\ncommand = "node"\nargs = ["x"]\n'
    put('.codex/config.toml', text)
    const outcomes = await install('codex')
    expect(outcomes).toEqual([
      expect.stringContaining('cannot be edited without rewriting the file'),
      'changed',
    ])
    expect(get('.codex/config.toml')).toContain('mcp_servers.dots.command = "node"\n[mcp_servers.table]\n')
    await uninstall('codex')
    expect(get('.codex/config.toml')).toBe(text)
  })

  it('leave YAML entries alone that take members of others', async () => {
    const text =
      'extensions:\n  base: &base\n    cmd: node\n    args: [a]\n  more:\n    <<: *base\n    cmd: other\n'
    put('.config/goose/config.yaml', text)
    expect(await install('goose')).toEqual(Array(2).fill('its entry is not a map of plain values'))
    expect(get('.config/goose/config.yaml')).toBe(text)
  })

  it('change only the entry of TOML files and restore it', async () => {
    const text = toml
    put('.codex/config.toml', text)
    expect(await install('codex')).toEqual(['changed', 'changed', 'changed', 'changed'])
    const installed = get('.codex/config.toml')
    expect(installed).toContain('# the launcher')
    expect(installed).toContain('startup_timeout_sec = 1_000')
    expect(await serversOf('codex')).toEqual(['stdio', 'stdio', 'stdio', 'remote'])
    await uninstall('codex')
    expect(get('.codex/config.toml')).toBe(text)
    await install('codex')
    await uninstall('codex', false)
    const spelled = get('.codex/config.toml').replace(String.raw`"C:\\x.exe"`, String.raw`'C:\x.exe'`)
    expect(spelled.replace('{ X-Key', '{ "X-Key"')).toBe(text)
  })

  it('keep what people changed in an entry meanwhile', async () => {
    put('.cursor/mcp.json', '{"mcpServers": {"a": {"command": "npx", "args": ["x"], "env": {"K": "1"}}}}')
    await install('cursor')
    const edited = get('.cursor/mcp.json').replace('"x"]', '"x", "--new"]').replace('"1"', '"2"')
    put('.cursor/mcp.json', edited)
    await uninstall('cursor')
    expect(JSON.parse(get('.cursor/mcp.json'))).toEqual({
      mcpServers: { a: { command: 'npx', args: ['x', '--new'], env: { K: '2' } } },
    })
  })

  it('refuse an entry without the original command, and print the former one', async () => {
    put('.cursor/mcp.json', '{"mcpServers": {"a": {"command": "npx", "args": ["x"]}}}')
    await install('cursor')
    const damaged = get('.cursor/mcp.json').replace('"record", ', '')
    put('.cursor/mcp.json', damaged)
    const [reason] = await uninstall('cursor')
    expect(reason).toContain('{"command": "npx", "args": ["x"]}')
    expect(get('.cursor/mcp.json')).toBe(damaged)
  })
})
