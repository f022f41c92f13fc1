// @ts-check
/**
 * Real clients from npm read the configuration that `install` wrote and use the server through the recorder. After
 * `uninstall` their file must be unchanged.
 *
 * Usage: node test/heavy/installed-clients.mjs [CLIENT…] (default: mcporter and opencode; --all for every one)
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')
const cli = join(root, 'dist/bin/wiretape.js')
const server = join(root, 'test/fixtures/servers/mini-mcp.mjs')
const entry = { command: process.execPath, args: [server] }

/**
 * `talks` is false where the command only reads the configuration: its connection needs a login or a trusted folder.
 *
 * @type {Record<string, { packages: string[], file: string, config: string, call: string[], shows: RegExp, talks: boolean }>}
 */
const clients = {
  mcporter: {
    packages: ['mcporter@0.9'],
    file: '.mcporter/mcporter.json',
    config: JSON.stringify({ mcpServers: { mini: entry } }, null, 2),
    call: ['mcporter', 'call', 'mini.echo', 'text=through-the-recorder'],
    shows: /through-the-recorder/,
    talks: true,
  },
  opencode: {
    packages: ['opencode-ai@1'],
    file: '.config/opencode/opencode.json',
    config: JSON.stringify({ mcp: { mini: { type: 'local', command: [entry.command, server] } } }),
    call: ['opencode', 'mcp', 'list'],
    shows: /mini.*connected/s,
    talks: true,
  },
  'claude-code': {
    packages: ['@anthropic-ai/claude-code@2'],
    file: '.claude.json',
    config: JSON.stringify({ mcpServers: { mini: entry } }, null, 2),
    call: ['claude', 'mcp', 'list'],
    shows: /mini: .*Connected/s,
    talks: true,
  },
  codex: {
    packages: ['@openai/codex@0'],
    file: '.codex/config.toml',
    config: `# mine\n[mcp_servers.mini] # here\ncommand = '${entry.command}'\nargs = ["${server}"]\n`,
    call: ['codex', 'mcp', 'list'],
    shows: /mini .*wiretape-launcher.*enabled/s,
    talks: false,
  },
  gemini: {
    packages: ['@google/gemini-cli@0'],
    file: '.gemini/settings.json',
    config: JSON.stringify({ mcpServers: { mini: entry } }, null, 2),
    call: ['gemini', 'mcp', 'list'],
    shows: /mini: .*wiretape-launcher/s,
    talks: false,
  },
}

const asked = process.argv.slice(2)
const names = asked.includes('--all')
  ? Object.keys(clients)
  : asked.length > 0
    ? asked
    : ['mcporter', 'opencode']
let failures = 0
for (const name of names) {
  const trouble = tryClient(name)
  console.log(trouble === undefined ? `ok      ${name}` : `FAILED  ${name}: ${trouble}`)
  if (trouble !== undefined) failures += 1
}
console.log(`${names.length - failures} passed, ${failures} failed`)
process.exitCode = failures === 0 ? 0 : 1

/** @param {string} name @returns {string | undefined} what is wrong */
function tryClient(name) {
  const client = clients[name]
  if (!client) return `not one of ${Object.keys(clients).join(', ')}`
  const prefix = join(root, 'build/clients', name)
  if (!existsSync(join(prefix, 'node_modules/.bin', client.call[0] ?? ''))) {
    mkdirSync(prefix, { recursive: true })
    const npm = [
      'install',
      '--silent',
      '--no-save',
      '--no-audit',
      '--no-fund',
      '--prefix',
      prefix,
      ...client.packages,
    ]
    if (spawnSync('npm', npm, { stdio: 'inherit' }).status !== 0) return 'it could not be installed from npm'
  }
  const home = mkdtempSync(join(tmpdir(), 'wiretape-client-'))
  try {
    const file = join(home, client.file)
    mkdirSync(dirname(file), { recursive: true })
    mkdirSync(join(home, 'project'))
    writeFileSync(file, client.config)
    const { XDG_CONFIG_HOME: _config, XDG_DATA_HOME: _data, ...usual } = process.env
    const env = {
      ...usual,
      HOME: home,
      PATH: `${join(prefix, 'node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
    }
    /** @param {string[]} argv */
    const run = ([command = '', ...args]) => {
      const { stdout, stderr } = spawnSync(command, args, {
        cwd: join(home, 'project'),
        env,
        encoding: 'utf8',
        timeout: 120_000,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      return `${stdout}${stderr}`
    }
    const wiretape = (/** @type {string[]} */ ...args) => run([process.execPath, cli, ...args])
    const installed = wiretape('install', '--all')
    if (!installed.includes('+ mini  recorded')) return `install said: ${installed}`
    const before = readFileSync(file, 'utf8')
    const said = run(client.call)
    if (!client.shows.test(said)) return `it said: ${said.slice(-2000)}`
    const folder = join(home, '.local/share/wiretape/recordings')
    const tapes = existsSync(folder) ? readdirSync(folder) : []
    if (client.talks && tapes.length === 0) return 'nothing was recorded'
    const check = client.talks ? wiretape('inspect', '--check', join(folder, tapes[0] ?? '')) : ''
    if (client.talks && !check.includes('no faults')) return `the recording is not sound: ${check}`
    // Some clients rewrite their own file, for example with their state; that rewrite is not a fault.
    const isUntouched = readFileSync(file, 'utf8') === before
    const removed = wiretape('uninstall', '--all')
    if (isUntouched && readFileSync(file, 'utf8') !== client.config)
      return `uninstall left another file: ${removed}`
    if (readFileSync(file, 'utf8').includes('wiretape')) return 'uninstall left the recorder in the file'
    return undefined
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
