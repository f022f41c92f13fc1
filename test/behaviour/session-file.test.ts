import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Run } from './run-cli.js'
import { printed, server } from './stage.js'
import { linesOfType, type Line } from './tape-bytes.js'
import { request, sample, useSessionFile } from './session-file-stage.js'

const { stage, file, session, cli, record, write } = useSessionFile()

describe('record --session-file', () => {
  it('has the whole session when the client ends it, each payload as it was sent', async () => {
    const recorder = record(server('echo-lines.mjs'), '--target', 'echo', '--note', 'for a report')
    await recorder.send(`${request}\nno json\n`)
    await printed(recorder, 'no json')
    recorder.stdin.end()
    expect((await recorder.ended).exitCode).toBe(0)
    expect(statSync(file()).mode & 0o777).toBe(0o600)
    const text = readFileSync(file(), 'utf8')
    expect(text.split(`"payload": ${request}\n`)).toHaveLength(3)
    expect(session()).toMatchObject({
      id: linesOfType(stage.tape(), 'meta')[0]!.wiretape.session,
      transport: 'stdio',
      server_url: null,
      messages: [
        { sequence: 0, direction: 'client_to_server', jsonrpc_id: 1, method: 'ping', modified: false },
        { sequence: 1, direction: 'server_to_client', jsonrpc_id: 1, method: 'ping' },
      ],
      metadata: { target: 'echo', notes: 'for a report' },
    })
    expect(session().ended_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/)
    expect(text).toContain('"text":"no json"')
  })

  it.each([
    ['by itself', ['3', `${request}\n`], 3],
    ['by a crash', ['SIGSEGV', `${request}\n`], 139],
  ])('has the whole session when the server ends %s', async (_how, args, status) => {
    const recorder = record(server('exit-with.mjs', ...args))
    expect((await recorder.ended).exitCode).toBe(status)
    expect(session().messages).toHaveLength(1)
    expect(session().ended_at).not.toBe(null)
  })
})

describe('proxy start', () => {
  it('splits a command line as a shell does, runs it and records it', async () => {
    const [node, program] = server('echo-lines.mjs')
    const target = `'${node}' "${program}" --flag "a b"`
    const options = ['--session-file', 'session.json', '--out', stage.out]
    const run = await cli(
      ['proxy', 'start', '--transport', 'stdio', '--target-command', target, ...options],
      `${request}\n`,
    )
    expect(run).toEqual({ code: 0, stdout: `${request}\n`, stderr: '' })
    expect(session()).toMatchObject({ messages: [{ method: 'ping' }, { method: 'ping' }] })
    expect(linesOfType(stage.tape(), 'meta')[0]!.command).toEqual([node, program, '--flag', 'a b'])
  })
})

describe('proxy inspect', () => {
  const inspect = (...args: string[]): Promise<Run> =>
    cli(['proxy', 'inspect', '--session-file', 'session.json', ...args])

  it('prints the documented format', async () => {
    write(sample)
    expect(await inspect()).toEqual({
      code: 0,
      stderr: '',
      stdout: `Session: 550e8400-e29b-41d4-a716-446655440000
Transport: stdio
Server command: python my_server.py
Messages: 3

  #000 > initialize id=1
  #001 < (response) id=1 corr=msg-001
  #002 > notifications/initialized
`,
    })
  })
})

describe('proxy export', () => {
  const exported = (...args: string[]): Promise<Run> =>
    cli(['proxy', 'export', '--session-file', 'session.json', '--output', 'out/evidence.json', ...args])
  const evidence = (): Line => JSON.parse(readFileSync(stage.path('out/evidence.json'), 'utf8'))

  it('writes the session with the given metadata', async () => {
    write({ ...sample, unknown: [1], messages: sample.messages.map((each) => ({ ...each, more: { x: 1 } })) })
    const run = await exported('--target', 'other', '--note', 'found', '--meta', 'cvss=9.8')
    expect(run).toEqual({ code: 0, stdout: 'Exported 3 messages to out/evidence.json\n', stderr: '' })
    expect(evidence()).toEqual({
      ...session(),
      metadata: { target: 'other', notes: 'found', cvss: '9.8' },
    })
  })
})

describe('a session file with a fault in it', () => {
  it('is read on after a message of broken JSON, which is named by its number', async () => {
    writeFileSync(file(), JSON.stringify(sample, null, 2).replace('"result": {}', '"result": {'))
    const run = await cli(['convert', '--to', 'session-json', 'session.json', '-'])
    expect(run.code).toBe(0)
    expect(JSON.parse(run.stdout).messages.map(({ sequence }: Line) => sequence)).toEqual([0, 2])
    expect(run.stderr).toContain('message 1: not valid JSON')
  })
})

describe('convert', () => {
  it('gives back the tape that a session file was made of, byte for byte', async () => {
    const recorder = record(server('mini-mcp.mjs'))
    await recorder.send(`[${request},{"jsonrpc":"2.0","method":"x"}]\nnoise\n${request}\r\n{"odd":true}\n`)
    recorder.stdin.end()
    await recorder.ended
    expect(await cli(['convert', 'session.json', 'back.jsonl'])).toMatchObject({ code: 0 })
    expect(readFileSync(stage.path('back.jsonl'), 'utf8')).toBe(readFileSync(stage.tape(), 'utf8'))
  })
})
