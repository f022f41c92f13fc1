/**
 * The commands of all pages work as documented: each runs in a folder with the files of its page, in the order of the
 * page, and prints the documented output. Numbers, times and hashes may differ.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { plainEnv, unstyled } from '../behaviour/run-cli.js'
import { cli, createStage, until, type Actor, type Stage } from '../behaviour/stage.js'
import { packages, pageFiles, rulesOf, sessionOf, sharedFiles } from './page-files.js'
import { startServices, type Services } from './page-services.js'
import { commands, pages, root, type Command } from './pages.js'

/** Commands that cannot run here, by their start. */
const notRun: Readonly<Record<string, string>> = {
  'npm start': 'installs and builds a clone',
  'npm test': 'runs all tests',
  'npm run bench': 'takes minutes',
  'npm install': 'changes what is installed on the machine',
  'wiretape sql': 'needs DuckDB: npm run test:sql',
  'duckdb -c': 'needs DuckDB',
  nats: 'needs the command line of NATS',
  'systemd-run': 'needs systemd',
}
const isNotRun = ({ text }: Command): boolean => Object.keys(notRun).some((start) => text.startsWith(start))

const module = (name: string): boolean => spawnSync('python3', ['-c', `import ${name}`]).status === 0
/** Pages with requirements that may be missing here. */
const needs: Readonly<Record<string, readonly [isThere: () => boolean, what: string]>> = {
  'docs/recipes/pytest.md': [
    () => module('pytest') && module('mcp.client.client'),
    'mcp of version 2, pytest',
  ],
  'docs/fleet.md': [() => spawnSync('nats-server', ['-v']).status === 0, 'nats-server'],
}

/** Programs that connect to the URL that a command of the page printed. */
const clients: Readonly<Record<string, (url: string) => string>> = {
  'docs/recipes/oauth-vscode.md': (url) => `UPSTREAM=${url} node client.js`,
}

/** Commands to run before those of a page. */
const first: Readonly<Record<string, readonly string[]>> = {
  'docs/fleet.md': ['wiretape ship --to nats://bus.example.com', 'wiretape ship --to /srv/recordings'],
  'docs/attach.md': ['wiretape record --reloadable -- node server.js'],
  'docs/findings.md': ['wiretape convert --force hidden.jsonl tape.jsonl'],
  'docs/redaction.md': ['mkdir -p ~/.local/share/wiretape'],
}

/** Exit statuses that pages document, for commands that report findings. */
const promised: Readonly<Record<string, number>> = {
  'docs/diff.md wiretape diff before.jsonl after.jsonl': 1,
  'docs/doctor.md wiretape doctor -- node server.js': 1,
  'docs/findings.md wiretape check tape.jsonl': 1,
}

const promisedCode = ({ page, text }: Command): number =>
  Object.entries(promised).find(([start]) => `${page} ${text}`.startsWith(start))?.[1] ?? 0

/** Commands that run until they are ended, and the output that says they are ready. */
const lasting: readonly (readonly [command: RegExp, ready: RegExp])[] = [
  [/^wiretape(?: attach)?$/, /quit|leave/],
  [/^wiretape ui/, /Ctrl\+C/],
  [/^wiretape .*(?:--url .*\/mcp|--listen \S+$|--listen \S+ --)/, /^(?:http:|export )/m],
  [/--reloadable/, /"id":2/],
  [/^wiretape (?:ship .*--follow|collect)/, /\n/],
]
const readyText = ({ text }: Command): RegExp | undefined =>
  /^wiretape (?:call|replay|run|pin|doctor)/.test(text)
    ? undefined
    : lasting.find(([command]) => command.test(text))?.[1]

const session = { short: sessionOf(1), long: sessionOf(9) }
let template: Stage
let servers: Stage
let upstream = ''
beforeAll(async () => {
  template = createStage()
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(template.path(name)), { recursive: true })
    writeFileSync(template.path(name), text)
  }
  for (const [name, text] of Object.entries(sharedFiles)) write(name, text)
  const programs = {
    wiretape: `exec '${process.execPath}' '${cli}' "$@"`,
    'xdg-open': 'exit 0',
    claude: 'exec node client.js',
    code: 'exec node client.js',
  }
  for (const [name, script] of Object.entries(programs)) {
    write(`bin/${name}`, `#!/bin/sh\n${script}\n`)
    chmodSync(template.path(`bin/${name}`), 0o755)
  }
  mkdirSync(template.path('node_modules/.bin'), { recursive: true })
  for (const [name, folder] of Object.entries(packages))
    symlinkSync(folder, template.path(`node_modules/${name}`))
  for (const name of ['vitest', 'mcp-server-everything'])
    symlinkSync(join(root, 'node_modules/.bin', name), template.path(`node_modules/.bin/${name}`))
  symlinkSync(template.path('bin/wiretape'), template.path('node_modules/.bin/wiretape'))
  const prepare = [
    'wiretape record --label shop -- node server.js',
    'wiretape record --label shop -- node server.js',
    'wiretape convert shop tape.jsonl',
    'for name in a b before after baseline; do cp tape.jsonl $name.jsonl; done',
    'wiretape convert --to streamable-http tape.jsonl session.json',
    'wiretape convert --to jsonrpc tape.jsonl messages.jsonl',
    'wiretape convert tape.jsonl s.json',
    'wiretape pin tape.jsonl',
  ]
  for (const command of prepare) {
    const { code, printed } = await finish(start(template, command, session.long))
    expect({ code }, `${command}\n${printed}`).toEqual({ code: 0 })
  }
  servers = createStage()
  const shared = servers.start([
    cli,
    ...'record --listen 127.0.0.1:0 -- node'.split(' '),
    template.path('server.js'),
  ])
  upstream = await until('the HTTP server listens', () => /^http\S+/m.exec(shared.stdout().toString())?.[0])
})
afterAll(() => Promise.all([template.close(), servers.close()]))

function start(stage: Stage, command: string, input?: string, services?: Services): Actor {
  const env: NodeJS.ProcessEnv = {
    ...plainEnv(stage.env),
    PATH: `${stage.path('bin')}:${process.env['PATH']}`,
    UPSTREAM: upstream,
    TERM: 'xterm-256color',
    PYTHONDONTWRITEBYTECODE: '1',
    ...services?.env,
  }
  for (const name of ['CI', 'VITEST']) delete env[name]
  const actor = stage.start(['bash', '-c', `fpath=(. zsh); ${command}`], { env })
  if (input !== undefined) actor.stdin.end(input)
  return actor
}

interface Finished {
  readonly code: number | null
  readonly printed: string
}
const printedBy = (actor: Actor): string => unstyled(`${String(actor.stdout())}${String(actor.stderr())}`)
async function finish(actor: Actor): Promise<Finished> {
  const { exitCode } = await actor.ended
  return { code: exitCode, printed: printedBy(actor) }
}

/** Replaces the addresses and folders of a page by those of this run. */
function adapted(text: string, url: string, services: Services): string {
  return [...services.addresses]
    .reduce((all, [name, address]) => all.replaceAll(name, address), text)
    .replaceAll('5d41402abc4b', () => services.segment() ?? 'no segment')
    .replaceAll(/https?:\/\/(?:127\.0\.0\.1:300\d|(?:mcp\.)?example\.com)\/mcp/g, upstream)
    .replaceAll('http://127.0.0.1:42995/mcp', url)
    .replaceAll(/--listen 127\.0\.0\.1:\d+/g, '--listen 127.0.0.1:0')
    .replaceAll('--only mcp.example.com', '--only 127.0.0.1')
    .replaceAll(/(?:\/srv|\/mnt)\//g, './')
    .replaceAll('Bearer …', 'Bearer x')
    .replaceAll('npx tsx src/server.ts', 'node server.js')
    .replaceAll('--follow', '--follow --json')
    .replaceAll('wiretape collect', 'wiretape collect --batch-age 1s')
}

/** A pattern for the shown output: numbers, units and hashes may differ, `…` stands for any text. */
function shownAs(text: string): RegExp {
  const words = (line: string): string =>
    line
      .trim()
      .split(/\s+/)
      .map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
      .map((word) => word.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '[0-9a-f-]+'))
      .map((word) => word.replaceAll(/\d+(?:\\\.\d+)*/g, String.raw`[\d.,]+`).replaceAll('…', '[^]*?'))
      .map((word) => word.replace(/^(?:ms|s|k?B)$/, '(?:ms|s|k?B)'))
      .join(String.raw`\s+`)
  return new RegExp(
    text
      .split('\n')
      .map(words)
      .join(String.raw`\s*\n\s*`),
  )
}

/** Checks after the commands of a page. */
const afterwards: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  async 'README.md'(stage) {
    const inspected = await finish(start(stage, 'wiretape inspect server-everything'))
    expect(inspected.printed).toMatch(/tools\/call echo .*"hello"[^]*Echo: hello/)
  },
  async 'docs/recipes/oauth-vscode.md'(stage) {
    const tokens = readFileSync(stage.path('tokens'), 'utf8').trim().split('\n')
    const recordings = stage.path('data/wiretape/recordings')
    const [remote = '', forwarded = ''] = readdirSync(recordings)
      .filter((name) => /remote|127/.test(name))
      .map((name) => readFileSync(join(recordings, name), 'utf8'))
    expect(remote).toContain('/.well-known/oauth-protected-resource')
    for (const part of ['registration_endpoint', 'code_challenge', 'grant_type=authorization_code'])
      expect(forwarded).toContain(part)
    for (const text of [remote, forwarded]) {
      expect(text).toContain('"tools/call"')
      for (const token of tokens) expect(text).not.toContain(token)
    }
  },
  async 'docs/recipes/ci.md'(stage) {
    for (const name of ['calls.xml', 'replay.xml', 'findings.sarif'])
      expect(existsSync(stage.path(`build/${name}`))).toBe(true)
    const [, workflow = ''] =
      /- run: (npx wiretape .*)/.exec(readFileSync(join(root, 'docs/recipes/ci.md'), 'utf8')) ?? []
    expect(await finish(start(stage, workflow))).toMatchObject({ code: 0 })
    const [name, text] = ['server.js', sharedFiles['server.js']]
    writeFileSync(stage.path(name), `process.argv[2] = '5'\n${text}`)
    const changed = await finish(start(stage, workflow))
    expect(changed).toMatchObject({
      code: 1,
      printed: expect.stringContaining('::error'),
    })
  },
}

it('skips only commands that cannot run here', () => {
  const left = commands.filter(isNotRun)
  for (const beginning of Object.keys(notRun))
    expect(left.map(({ text }) => text)).toContainEqual(expect.stringMatching(`^${beginning}`))
  expect(left.length).toBeLessThan(20)
  expect(commands.length).toBeGreaterThan(120)
})

describe('the commands of', () => {
  const runnable = pages.filter((page) => commands.some((one) => one.page === page && !isNotRun(one)))
  it.for(runnable)('%s', async (page, { skip }) => {
    const [isThere, what] = needs[page] ?? []
    skip(isThere?.() === false, what)
    const stage = createStage()
    const all = commands.filter((one) => one.page === page && !isNotRun(one))
    const services = await startServices(all.map(({ text }) => text).join('\n'), stage)
    try {
      cpSync(template.folder, stage.folder, { recursive: true, verbatimSymlinks: true })
      for (const [name, text] of Object.entries({ ...pageFiles[page], ...rulesOf(page) }))
        writeFileSync(stage.path(name), text)
      await follow(stage, [...(first[page] ?? []).map((text) => ({ page, line: 0, text })), ...all], services)
      await afterwards[page]?.(stage)
    } finally {
      await stage.close()
      await services.close()
    }
  })
})

async function follow(stage: Stage, all: readonly Command[], services: Services): Promise<void> {
  const live: [command: string, actor: Actor][] = []
  let url = upstream
  for (const command of all) {
    const { page } = command
    const text = adapted(command.text, url, services)
    const place = `${page}:${command.line} ${text}`
    const shown = command.output === undefined ? /(?:)/ : shownAs(adapted(command.output, url, services))
    const ready = readyText(command)
    const input = /\b(?:record|mock)\b/.test(text) ? session.short : ''
    if (ready === undefined) {
      const { code, printed } = await finish(start(stage, text, input, services))
      expect({ code }, `${place}\n${printed}`).toEqual({ code: promisedCode(command) })
      expect(printed).toMatch(shown)
      continue
    }
    const isScreen = /quit/.test(ready.source)
    const actor = start(stage, isScreen ? `script -qec '${text}' /dev/null` : text, undefined, services)
    live.push([place, actor])
    if (/--reloadable/.test(text)) await actor.send(input)
    await Promise.race([until(`${place} is ready`, () => ready.test(printedBy(actor))), actor.ended])
    expect(printedBy(actor)).toMatch(ready)
    await until(`${place} prints what the page shows`, () => shown.test(printedBy(actor)), 10_000)
    url = /^http\S+/m.exec(String(actor.stdout()))?.[0] ?? url
    if (isScreen) await actor.send('q')
    const client = clients[page]?.(url)
    if (client === undefined) continue
    const { code, printed } = await finish(start(stage, client, '', services))
    expect({ code }, `${client}\n${printed}`).toEqual({ code: 0 })
  }
  for (const [place, actor] of live) {
    actor.stdin.end()
    if (!/script/.test(place)) actor.child.kill('SIGINT')
    const { exitCode } = await actor.ended
    expect({ exitCode }, `${place}\n${printedBy(actor)}`).toEqual({ exitCode: expect.toBeOneOf([0, 130]) })
  }
}
