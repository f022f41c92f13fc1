import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ask, listed, opened, tapeOf } from '../findings/stage.js'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { server } from './stage.js'

const add = { name: 'add', description: 'Adds two numbers and returns their sum.' }
const sub = { name: 'sub', description: 'Subtracts.' }

describe('wiretape pin', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-pin-test-'))
    write('before.jsonl', tapeOf([...opened(), ...listed(add, sub)]))
    const changed = { ...add, description: 'Adds two numbers. <IMPORTANT>\u{1b}[31m and returns their sum.' }
    write(
      'after.jsonl',
      tapeOf([...opened(), ...listed(changed), ...ask('prompts/list', {}, { prompts: [] })]),
    )
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  const write = (name: string, content: string): void => writeFileSync(join(folder, name), content)
  const lock = (): string => readFileSync(join(folder, 'wiretape.lock'), 'utf8')
  const here = (...args: string[]): Promise<Run> =>
    wiretape(args, {
      cwd: folder,
      env: plainEnv({ HOME: folder, XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder }),
    })

  it('writes every member of every definition with its hash, the same bytes each time', async () => {
    expect(await here('pin', 'before.jsonl')).toMatchObject({
      code: 0,
      stdout: 'srv  pinned: tools (2)\nwiretape.lock written\n',
    })
    const first = lock()
    const { servers } = JSON.parse(first) as { servers: { srv: { tools: object } } }
    expect(servers.srv.tools).toMatchObject({
      add: { description: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/), value: add.description } },
      sub: { inputSchema: { value: { type: 'object' } } },
    })
    expect(await here('pin', 'before.jsonl')).toMatchObject({
      code: 0,
      stdout: 'srv  as pinned\nwiretape.lock written\n',
    })
    expect(lock()).toBe(first)
  })

  it('shows drift word by word and exits 1 until it is accepted', async () => {
    await here('pin', 'before.jsonl')
    const first = lock()
    expect(await here('pin', '--verify', 'before.jsonl')).toMatchObject({ code: 0 })
    const verified = await here('pin', '--verify', 'after.jsonl')
    expect(verified.code).toBe(1)
    expect(verified.stdout).toContain('  the tool add: description changed\n')
    expect(verified.stdout).toContain(
      'Adds two numbers{+.+} {+<IMPORTANT>\\u{1b}[31m +}and returns their sum.\n',
    )
    expect(verified.stdout).toContain('  the tool sub is pinned but no longer offered\n')
    expect(verified.stdout).not.toContain('\u{1b}')
    expect(await here('pin', 'after.jsonl')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('nothing was written; accept the differences with --accept'),
    })
    expect(lock()).toBe(first)
    expect(await here('pin', '--accept', 'after.jsonl')).toMatchObject({ code: 0 })
    expect(await here('pin', '--verify', 'after.jsonl')).toMatchObject({ code: 0 })
  })

  it('reports each listing that drifted under check --pin', async () => {
    await here('pin', 'before.jsonl')
    expect(await here('check', 'before.jsonl', '--pin', 'wiretape.lock')).toMatchObject({ code: 0 })
    const { code, stdout } = await here('check', 'after.jsonl', '--pin', 'wiretape.lock')
    expect(code).toBe(1)
    expect(stdout).toContain('error    safety/definition-drift  #4  add  after.jsonl:6\n')
    expect(stdout).toContain('         the tool add: description changed\n')
    expect(stdout).toContain('         the tool sub is pinned but no longer offered\n')
  })

  it('says that a server is not pinned', async () => {
    await here('pin', 'before.jsonl')
    write('other.jsonl', tapeOf([...opened({ name: 'other' }), ...listed(add)]))
    expect(await here('pin', '--verify', 'other.jsonl')).toMatchObject({
      code: 1,
      stdout: 'other  not pinned\n',
    })
    expect(await here('check', 'other.jsonl', '--pin', 'wiretape.lock')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('the server other is not pinned'),
    })
  })

  it('joins the pages of a listing, and pins no listing that was not read to its end', async () => {
    const pages = [
      ...ask('tools/list', {}, { tools: [add], nextCursor: 'x' }),
      ...ask('tools/list', { cursor: 'x' }, { tools: [sub] }),
      ...ask('resources/list', {}, { resources: [{ uri: 'a:b', name: 'b' }], nextCursor: 'y' }),
    ]
    write('pages.jsonl', tapeOf([...opened(), ...pages]))
    expect(await here('pin', 'pages.jsonl')).toMatchObject({
      stdout: expect.stringMatching(/^srv {2}pinned: tools \(2\)\n/),
    })
  })

  it('lists the tools of a server itself, of either era', async () => {
    for (const file of ['varying-mcp.mjs', 'modern-mcp.mjs']) {
      const command = ['--lock', `${file}.lock`, '--', ...server(file)]
      expect(await here('pin', ...command)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/pinned: .*tools \(\d+\)/),
      })
      expect(await here('pin', '--verify', ...command)).toMatchObject({ code: 0 })
    }
  })

  it('refuses invalid options in one line', async () => {
    await here('pin', 'before.jsonl')
    write('edited.lock', lock().replace('Subtracts.', 'Subtracts, and more.'))
    for (const [args, why] of [
      [[], 'a recording or a server is needed'],
      [['before.jsonl', '--', 'x'], 'a recording, --url and a command cannot be combined'],
      [['before.jsonl', '--verify', '--accept'], '--verify and --accept cannot be combined'],
      [['before.jsonl', '--verify', '--lock', 'none'], 'there is no none'],
      [['before.jsonl', '--lock', 'before.jsonl'], 'before.jsonl is not a lock file: it is not JSON'],
      [['before.jsonl', '--lock', 'edited.lock'], 'the hash of sub description does not match its value'],
    ] as const) {
      const { code, stderr } = await here('pin', ...args)
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) })
      expect(stderr.trimEnd()).not.toContain('\n')
    }
  })
})
