import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formats } from '../../src/formats/index.js'
import type { Run } from './run-cli.js'
import { printed, server, until } from './stage.js'
import { linesOfType } from './tape-bytes.js'
import { request, sample, useSessionFile } from './session-file-stage.js'

const { stage, file, session, cli, record, write } = useSessionFile()

const ids = (can: 'read' | 'write', between: string): string => {
  const known = formats.filter((format) => can in format).map(({ id }) => id)
  return [...known, ...(can === 'write' ? ['parquet', 'html'] : [])].join(between)
}

describe('record --session-file', () => {
  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'has the whole session when the recorder is ended by %s',
    async (signal) => {
      const recorder = record(server('echo-lines.mjs'))
      await recorder.send(`${request}\n`)
      await printed(recorder, request)
      recorder.child.kill(signal)
      expect((await recorder.ended).exitCode).toBeGreaterThan(128)
      expect(session().messages).toHaveLength(2)
      expect(session().ended_at).not.toBe(null)
    },
  )

  it('has no messages and exit code 127 when the server cannot be started', async () => {
    const recorder = record([stage.path('nothing-here')])
    expect((await recorder.ended).exitCode).toBe(127)
    expect(session()).toMatchObject({ messages: [], metadata: { wiretape: { end: { exitCode: 127 } } } })
  })

  it('keeps the existing file as .bak', async () => {
    writeFileSync(file(), 'an older session')
    const recorder = record(server('exit-with.mjs', '0', `${request}\n`))
    await recorder.ended
    expect(session().messages).toHaveLength(1)
    expect(readFileSync(`${file()}.bak`, 'utf8')).toBe('an older session')
    expect(statSync(`${file()}.bak`).mode & 0o777).toBe(0o600)
    await record(server('exit-with.mjs', '0')).ended
    expect(readFileSync(`${file()}.bak`, 'utf8')).toBe('an older session')
    expect(JSON.parse(readFileSync(`${file()}.bak.1`, 'utf8')).messages).toHaveLength(1)
    expect(readdirSync(stage.folder).filter((name) => name.endsWith('.tmp'))).toEqual([])
  })

  it('starts no server when the file cannot be written', async () => {
    mkdirSync(file())
    const recorder = record(['sh', '-c', 'touch started'])
    expect(await recorder.ended).toEqual({ exitCode: 1, signal: null })
    expect(recorder.stderr().toString()).toBe(`wiretape: cannot write ${file()}: it is a folder\n`)
    expect(existsSync(stage.path('started'))).toBe(false)
    expect(stage.tapes()).toEqual([])
  })

  it('keeps every segment until it is saved, and then the newest ones', async () => {
    const messages = Array.from({ length: 60 }, (_, id) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}`)
    const recorder = record(server('echo-lines.mjs'), '--max-bytes', '2kB', '--max-files', '2')
    await recorder.send(`${messages.join('\n')}\n`)
    await printed(recorder, messages.at(-1)!)
    await until('there are more segments', () => stage.tapes().length > 2)
    recorder.stdin.end()
    await recorder.ended
    expect(session().messages).toHaveLength(120)
    expect(stage.tapes()).toHaveLength(2)
  })

  it('prints an error when it cannot be saved at the end, and the tape has everything', async () => {
    const recorder = record(server('echo-lines.mjs'))
    await recorder.send(`${request}\n`)
    await printed(recorder, request)
    mkdirSync(file())
    recorder.stdin.end()
    expect((await recorder.ended).exitCode).toBe(0)
    expect(recorder.stderr().toString()).toContain('the session file is not complete: ')
    rmSync(file(), { recursive: true })
    expect(await cli(['convert', stage.tape(), 'session.json'])).toMatchObject({ code: 0 })
    expect(session().messages).toHaveLength(2)
  })
})

describe('proxy start', () => {
  it.each([
    [[], '--target-command is missing (see wiretape proxy start --help)'],
    [['--transport', 'sse'], '--target-url is missing (see wiretape proxy start --help)'],
    [
      ['--target-command', "node 'x"],
      "--target-command: the ' at column 6 is not closed (see wiretape proxy start --help)",
    ],
    [['--target-command', ' '], '--target-command is empty (see wiretape proxy start --help)'],
    [
      ['--target-command', 'x', '--transport', 'tcp'],
      "option '--transport <transport>' argument 'tcp' is invalid. Allowed choices are stdio, streamable-http, sse. (see wiretape proxy start --help)",
    ],
  ])('refuses %j in one line', async (args, line) => {
    expect(await cli(['proxy', 'start', ...args])).toEqual({
      code: 2,
      stdout: '',
      stderr: `wiretape: ${line}\n`,
    })
  })
})

describe('proxy inspect', () => {
  const inspect = (...args: string[]): Promise<Run> =>
    cli(['proxy', 'inspect', '--session-file', 'session.json', ...args])

  it('shows the URL of a server that has one, and which messages were modified', async () => {
    const changed = {
      ...sample.messages[0],
      modified: true,
      original_payload: { ...sample.messages[0]!.payload, id: 7 },
    }
    write({
      ...sample,
      transport: 'sse',
      server_command: null,
      server_url: 'https://example.com/sse',
      messages: [changed],
    })
    const { stdout } = await inspect()
    expect(stdout).toContain('Transport: sse\nServer URL: https://example.com/sse\nMessages: 1\n')
    expect(stdout).toContain('  #000 > initialize id=1 [MODIFIED]\n')
  })

  it('prints payloads as recorded, and warns that nothing was redacted', async () => {
    writeFileSync(
      file(),
      JSON.stringify(sample).replace('"params":{}', '"params":{"n":1e3,"n":"\\u001b[2J"}'),
    )
    const { stdout, stderr } = await inspect('-v')
    expect(stdout).toContain(
      '         "params": {\n           "n": 1e3,\n           "n": "\\u001b[2J"\n         }\n',
    )
    expect(stderr).toBe(
      'wiretape: session.json is not redacted: its payloads are printed as they were sent\n',
    )
  })

  it('opens a tape', async () => {
    const recorder = record(server('exit-with.mjs', '0', `${request}\n`))
    await recorder.ended
    const run = await cli(['proxy', 'inspect', '--session-file', stage.tape()])
    expect(run.stdout).toBe((await inspect()).stdout)
    expect(run.stdout).toContain('  #000 < ping id=1\n')
  })
})

describe('proxy export', () => {
  const exported = (...args: string[]): Promise<Run> =>
    cli(['proxy', 'export', '--session-file', 'session.json', '--output', 'out/evidence.json', ...args])

  it('redacts secrets in the given metadata', async () => {
    write(sample)
    await exported(
      '--note',
      'the db password: hunter2',
      '--meta',
      'token=hunter3',
      '--target',
      'https://me:hunter4@host',
    )
    expect(readFileSync(stage.path('out/evidence.json'), 'utf8')).not.toMatch(/hunter[234]/)
  })

  it('writes onto its own input, and keeps that as .bak', async () => {
    write(sample)
    await cli([
      'proxy',
      'export',
      '--session-file',
      'session.json',
      '--output',
      'session.json',
      '--note',
      'x',
    ])
    expect(session().metadata).toEqual({ target: 'example-server', notes: 'x' })
    expect(JSON.parse(readFileSync(`${file()}.bak`, 'utf8'))).toEqual(sample)
  })

  it('writes other formats by their id', async () => {
    write(sample)
    expect(await exported('--output-format', 'trace-v1')).toMatchObject({ code: 0 })
    expect(linesOfType(stage.path('out/evidence.json'), undefined)).toHaveLength(3)
    expect(await exported('--output-format', 'xml')).toMatchObject({
      code: 2,
      stderr: `wiretape: --output-format xml: unknown format (use one of json, ${ids('write', ', ')})\n`,
    })
  })
})

describe('a session file with a fault in it', () => {
  const faulty: [string, (value: typeof sample) => unknown, string][] = [
    ['a missing key', ({ metadata: _, ...rest }) => rest, 'the session has no "metadata"'],
    [
      'a wrong direction',
      (value) => ({ ...value, messages: value.messages.with(1, { ...value.messages[1], direction: 'up' }) }),
      'message 1: "direction" is "up", neither "client_to_server" nor "server_to_client"',
    ],
    [
      'a payload that is no message',
      (value) => ({ ...value, messages: value.messages.with(1, { ...value.messages[1], payload: 'x' }) }),
      'message 1: "payload" is string, not a JSON-RPC message',
    ],
  ]
  it.each(faulty)('is read except for %s, with a warning', async (_name, change, problem) => {
    write(change(sample))
    const convert = await cli(['convert', 'session.json', 'tape.jsonl'])
    expect(convert).toMatchObject({ code: 0 })
    expect(convert.stderr).toContain(problem)
    expect(convert.stderr.trimEnd().split('\n')).toHaveLength(1)
    expect(linesOfType(stage.path('tape.jsonl'), undefined).length).toBeGreaterThanOrEqual(2)
    const check = await cli(['inspect', '--check', 'session.json'])
    expect(check).toMatchObject({ code: 1 })
    expect(check.stdout).toContain(problem)
    const inspect = await cli(['proxy', 'inspect', '--session-file', 'session.json'])
    expect(inspect).toMatchObject({ code: 0 })
    expect(inspect.stderr.split(problem)).toHaveLength(2)
  })
})

describe('convert', () => {
  it.each([
    [
      ['session.json', 'session.json'],
      'session.json exists (choose another output, or replace it with --force)',
    ],
    [
      ['session.json', 'x.txt'],
      `the name x.txt does not imply a format (choose one with --to ${ids('write', '|')})`,
    ],
    [
      ['session.json', '-'],
      `stdout has no name to choose a format from (choose one with --to ${ids('write', '|')})`,
    ],
    [
      ['session.json'],
      'convert needs an input and an output, and got only session.json (name the output file too)',
    ],
    [['--to', 'xml', 'session.json', 'x'], `--to xml: unknown format (use one of ${ids('write', ', ')})`],
    [
      ['--from', 'csv', 'session.json', 'x.json'],
      `--from csv: unknown format (use one of ${ids('read', ', ')})`,
    ],
  ])('refuses %j in one line', async (args, line) => {
    write(sample)
    expect(await cli(['convert', ...args])).toEqual({ code: 2, stdout: '', stderr: `wiretape: ${line}\n` })
  })
})
