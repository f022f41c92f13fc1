import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { call, tapeOf } from '../compare/stage.js'
import { expectSchema } from './data-folder.js'
import { wiretape, type Run } from './run-cli.js'

describe('wiretape diff', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-diff-'))
    const at = (time: string) => call('now', {}, { at: time })
    write('a.jsonl', tapeOf([call('sum', { a: 1 }, 'is 3'), at('2026-01-01T00:00:00Z')]))
    write('b.jsonl', tapeOf([call('sum', { a: 1 }, 'is 4'), at('2026-02-02T00:00:00Z')]))
    write('none.jsonl', tapeOf([]))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function write(name: string, text: string): void {
    writeFileSync(join(folder, name), text)
  }
  const diff = (...args: string[]): Promise<Run> => wiretape(['diff', ...args], { cwd: folder })

  it('shows the differences, suggests a rule for clocks, and exits 1', async () => {
    const { code, stdout, stderr } = await diff('a.jsonl', 'b.jsonl')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(stdout).toContain(
      '  changed    tools/call sum  #0\n    ~ result.content[0].text "is 3" → "is 4"\n',
    )
    expect(stdout).toContain("--match '$.result.content[0].text.at=timestamp'")
    expect(stdout).toMatch(/\nDifferent: 2 changed\n$/)
  })

  it('exits 0 where the rules allow it, on the command line or beside the recording', async () => {
    const rules = ['--match', '$..at=timestamp', '--ignore', '$.result.content[0].text']
    expect(await diff('a.jsonl', 'b.jsonl', ...rules)).toMatchObject({ code: 0 })
    write('c.jsonl', readFileSync(join(folder, 'a.jsonl'), 'utf8'))
    write('c.compare.yaml', 'match: {"$..at": timestamp}\ncalls: [{name: sum, ignore: [$.result.content]}]\n')
    expect(await diff('c.jsonl', 'b.jsonl')).toMatchObject({ code: 0, stderr: '' })
  })

  it('reads another format as well as a tape', async () => {
    expect(await wiretape(['convert', 'a.jsonl', 'a.json'], { cwd: folder })).toMatchObject({ code: 0 })
    expect(await diff('a.jsonl', 'a.json', '--level', 'exact', '--all')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('same       tools/call sum'),
    })
  })

  it('writes reports for their owner only', async () => {
    const wanted = ['junit=out/r.xml', 'json=out/r.json', 'github=-'].flatMap((report) => [
      '--report',
      report,
    ])
    const { stdout } = await diff('a.jsonl', 'b.jsonl', ...wanted)
    expect(stdout).toContain('::error title=changed%3A tools/call sum::')
    expect(readFileSync(join(folder, 'out/r.xml'), 'utf8')).toContain('tests="2" failures="2"')
    expectSchema('diff', JSON.parse(readFileSync(join(folder, 'out/r.json'), 'utf8')))
    expectSchema('diff', JSON.parse((await diff('a.jsonl', 'b.jsonl', '--json', '--level', 'exact')).stdout))
    expect(JSON.parse(readFileSync(join(folder, 'out/r.json'), 'utf8'))).toMatchObject({
      counts: { changed: 2 },
    })
    expect(statSync(join(folder, 'out/r.json')).mode & 0o777).toBe(0o600)
  })

  it.each([
    [['a.jsonl', 'gone.jsonl'], 'cannot read gone.jsonl: no such file'],
    [['a.jsonl', 'none.jsonl'], 'none.jsonl has no requests'],
    [['a.jsonl', 'b.jsonl', '--match', '$.a=tmestamp'], 'it has an unknown matcher: tmestamp'],
    [['a.jsonl', 'b.jsonl', '--ignore', '$.a['], '--ignore $.a[, column 5: it is incomplete'],
    [['a.jsonl', 'b.jsonl', '--report', 'junit=./b.jsonl'], '--report junit: ./b.jsonl is also the input'],
    [
      ['a.jsonl', 'b.jsonl', '--report', 'junit=same', '--report', 'json=./same'],
      '--report junit=same and --report json=./same write the same file',
    ],
    [
      ['a.jsonl', 'b.jsonl', '--compare-file', 'bad2.yaml', '--report', 'json=bad2.yaml'],
      '--report json: bad2.yaml is also the input',
    ],
    [
      ['ruled.jsonl', 'b.jsonl', '--report', 'json=ruled.compare.yaml'],
      '--report json: ruled.compare.yaml is also the input',
    ],
    [['a.jsonl', 'b.jsonl', '--report', 'xml=f'], 'KIND=FILE with one of junit, json, markdown, github'],
    [
      ['a.jsonl', 'b.jsonl', '--compare-file', 'bad.yaml'],
      'bad.yaml, line 2: $.b has an unknown matcher: soon',
    ],
  ])('ends with 2 and one line: %s', async (args, message) => {
    write('bad.yaml', 'match:\n  $.b: soon\n')
    for (const name of ['bad2.yaml', 'ruled.compare.yaml']) write(name, 'ignore: [$.x]\n')
    write('ruled.jsonl', readFileSync(join(folder, 'a.jsonl'), 'utf8'))
    const { code, stdout, stderr } = await diff(...args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
