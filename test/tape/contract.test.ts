import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, describe, expect, it } from 'vitest'
import { createFold } from '../../src/model/index.js'
import { openRecording } from '../../src/tape/index.js'
import { idKey } from '../../src/wire/index.js'

const project = resolve(import.meta.dirname, '../..')
const schema = JSON.parse(readFileSync(join(project, 'docs/tape-format.schema.json'), 'utf8')) as {
  $id: string
}
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true })
ajv.addSchema(schema)
const isLine = ajv.getSchema(schema.$id)!
const isStrictLine = ajv.getSchema(`${schema.$id}#/$defs/strict`)!
const fixtures = join(project, 'test/fixtures/trace-v1')
const goldenFiles = readdirSync(fixtures)

function check(text: string, valid = isLine): void {
  text
    .trimEnd()
    .split('\n')
    .forEach((line, i) => {
      if (!valid(JSON.parse(line))) throw new Error(`line ${i + 1}: ${ajv.errorsText(valid.errors)}: ${line}`)
    })
}

const root = mkdtempSync(join(os.tmpdir(), 'wiretape-contract-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Runs the built recorder around a small program that answers oddly; gives the texts of its files. */
async function record(
  name: string,
  options: readonly string[],
): Promise<{ paths: string[]; texts: string[] }> {
  const folder = join(root, name)
  const server = `
    process.stdin.on('data', (data) => {
      process.stderr.write('got ' + data.length + '\\r\\n')
      process.stdout.write('ready…\\n')
      process.stdout.write(Buffer.from([0x7b, 0xff, 0x0a]))
      process.stdout.write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"p","progress":1}}\\r\\n')
      process.stdout.write(' {"jsonrpc":"2.0","id":1,"result":{"n":1.0}}\\n')
      process.stdout.write('[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":9,"method":"ping"}]\\n')
      process.stdout.write('{"jsonrpc":"2.0","method":"last"}')
    })`
  const child = spawn(
    process.execPath,
    [
      join(project, 'dist/bin/wiretape.js'),
      'record',
      '--quiet',
      '--out',
      folder,
      ...options,
      '--',
      process.execPath,
      '-e',
      server,
    ],
    { stdio: ['pipe', 'ignore', 'ignore'], env: { ...process.env, HOME: root, XDG_DATA_HOME: root } },
  )
  child.stdin.end(
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"p"}}}\n',
  )
  const code = await new Promise((done) => child.once('close', done))
  expect(code).toBe(0)
  const paths = readdirSync(folder)
    .toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))
    .map((file) => join(folder, file))
  return { paths, texts: paths.map((path) => readFileSync(path, 'utf8')) }
}

describe('the public contract', () => {
  it.each(goldenFiles.filter((name) => name !== 'unknown.jsonl'))('holds for every line of %s', (name) => {
    check(readFileSync(join(fixtures, name), 'utf8'))
  })

  it('knows the strict form, and takes nothing else for it', () => {
    check(readFileSync(join(fixtures, 'strict.jsonl'), 'utf8'), isStrictLine)
    check(readFileSync(join(fixtures, 'plain.jsonl'), 'utf8'), isStrictLine)
    expect(() => check(readFileSync(join(fixtures, 'every-member.jsonl'), 'utf8'), isStrictLine)).toThrow(
      'line 1',
    )
  })

  it.each([
    '{}',
    '[]',
    '{"v":2,"type":"meta","startedAt":"2026-01-01T00:00:00.000Z","label":"","command":[]}',
    '{"t":"2026-01-01T00:00:00.000Z","dir":"up","raw":{}}',
    '{"t":"2026-01-01T00:00:00.000Z","dir":"in"}',
    '{"type":"gap","t":"2026-01-01T00:00:00.000Z","us":1,"lost":-1,"why":""}',
    '{"t":"2026-01-01T00:00:00.000Z","type":"end","exitCode":"0","durationMs":1}',
  ])('refuses %s', (line) => {
    expect(isLine(JSON.parse(line))).toBe(false)
  })

  it('holds for what the recorder writes', async () => {
    const { paths, texts } = await record('own', ['--note', 'n', '--meta', 'k=v'])
    expect(texts).toHaveLength(1)
    check(texts[0]!)
    const types = texts[0]!
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { type?: string }).type ?? 'message')
    expect(types.toSorted()).toEqual(
      [
        'meta',
        'message',
        'message',
        'message',
        'message',
        'message',
        'noise',
        'noise',
        'stderr',
        'end',
      ].toSorted(),
    )
    const fold = createFold(idKey)
    const tape = await openRecording(paths[0]!)
    for await (const line of tape.format.read({ bytes: () => tape.bytes() }, ({ message }) =>
      expect.fail(message),
    ))
      fold.push(line)
    expect(fold.sessions[0]).toMatchObject({
      complete: true,
      exitCode: 0,
      metadata: [
        ['notes', '"n"'],
        ['k', '"v"'],
      ],
    })
    expect(fold.counts()).toMatchObject({
      messages: 6,
      late: 1,
      noise: 2,
      stderr: 1,
      unanswered: 1,
      invalid: 0,
    })
  })

  it('holds for the segments it rotates into', async () => {
    const { texts } = await record('rotated', ['--max-bytes', '1200'])
    expect(texts.length).toBeGreaterThan(1)
    texts.forEach((text) => check(text))
  })

  it('holds, in the strict form, for strict tapes', async () => {
    const { texts } = await record('strict', ['--strict-v1'])
    check(texts[0]!, isStrictLine)
    expect(texts[0]!.trimEnd().split('\n')).toHaveLength(7)
  })
})
