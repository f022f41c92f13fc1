import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, called, fromServer, listed, opened, tapeOf, type Line } from '../findings/stage.js'
import { wiretape, type Run } from './run-cli.js'

const text = (words: string): object => ({ content: [{ type: 'text', text: words }] })
const schema = { type: 'object', properties: { n: { type: 'number' } } }
const tool = { name: 'add', description: 'Adds two numbers.', outputSchema: schema }

describe('wiretape check', () => {
  let folder = ''
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-check-'))
    const call = called('add', {}, { ...text('1'), structuredContent: { n: 1 } })
    const bad = called('add', {}, { ...text('<b>&"\u{1b}[31m]'), structuredContent: { n: '<b>' } })
    write('good.jsonl', tapeOf([...opened(), ...listed(tool), ...call]))
    write('bad.jsonl', tapeOf([...opened(), ...listed(tool), ...call, ...bad]))
    write('cut.jsonl', tapeOf([...opened(), ...listed(tool)]).replace(/[^\n]*\n$/, ''))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  function write(name: string, content: string): void {
    writeFileSync(join(folder, name), content)
  }
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const check = (...args: string[]): Promise<Run> => wiretape(['check', ...args], { cwd: folder })

  it('prints nothing for a recording without findings, and exits 0', async () => {
    expect(await check('good.jsonl')).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^no findings: \d+ rules, 1 recording\n$/),
    })
  })

  it('names the message, the tool and the line of the tape, and exits 1', async () => {
    const { code, stdout } = await check('bad.jsonl')
    expect(code).toBe(1)
    expect(stdout).toContain('error    schemas/output  #8  add  bad.jsonl:10\n')
    expect(stdout).toContain('structuredContent of add: /n is a string, not number\n')
    expect(stdout).not.toContain('\u{1b}')
  })

  it('exits 0 when --fail-on or --rules exclude the finding', async () => {
    expect(await check('bad.jsonl', '--rules', 'protocol')).toMatchObject({ code: 0 })
    expect(await check('bad.jsonl', '--fail-on', 'protocol/order')).toMatchObject({ code: 0 })
    expect(await check('bad.jsonl', '--fail-on', 'schemas/output')).toMatchObject({ code: 1 })
  })

  it('does not count findings of the baseline', async () => {
    await check('bad.jsonl', '--report', 'json=before.json')
    expect(await check('bad.jsonl', '--baseline', 'before.json')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('0 errors, 0 warnings, 0 notes, 2 in the baseline'),
    })
  })

  it('checks a recording against expectations from the command line and from a file', async () => {
    expect(await check('good.jsonl', '--expect-tool', 'add', '--max-latency', 'add:2s')).toMatchObject({
      code: 0,
    })
    const wanted = [
      '--expect-tool',
      'sub',
      '--forbid-tool',
      'add',
      '--max-latency',
      '500ms',
      '--max-context',
      '3',
    ]
    const { stdout } = await check('good.jsonl', ...wanted)
    expect(stdout).toContain('the tool sub was never called')
    expect(stdout).toContain('the forbidden tool add was called')
    expect(stdout).toContain('tokens of definitions (characters / 4), more than 3: add ')
    write('wiretape.check.yaml', 'forbid-tool: [add]\n')
    expect(await check('good.jsonl')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^expectations of wiretape.check.yaml\n/),
    })
    expect(await check('good.jsonl', '--no-config')).toMatchObject({ code: 0 })
    write('wiretape.check.yaml', 'forbid: [add]\n')
    expect(await check('good.jsonl')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('wiretape.check.yaml: it has an unknown member "forbid"'),
    })
    rmSync(join(folder, 'wiretape.check.yaml'))
  })

  it('reports tools without a pin under --no-new-tools', async () => {
    write('more.jsonl', tapeOf([...opened(), ...listed(tool, { ...tool, name: 'rm' })]))
    expect(await check('good.jsonl', '--no-new-tools')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no-new-tools needs a lock file, and there is no wiretape.lock'),
    })
    await wiretape(['pin', 'good.jsonl', '--lock', 'known.lock'], { cwd: folder })
    expect(await check('good.jsonl', '--no-new-tools', '--pin', 'known.lock')).toMatchObject({ code: 0 })
    const { code, stdout } = await check('more.jsonl', '--no-new-tools', '--pin', 'known.lock')
    expect({ code, stdout }).toMatchObject({ code: 1, stdout: expect.stringContaining('rm is a new tool') })
    await wiretape(['pin', 'good.jsonl'], { cwd: folder })
    write('wiretape.check.yaml', 'no-new-tools: true\n')
    expect((await check('more.jsonl')).stdout).toContain('rm is a new tool')
    rmSync(join(folder, 'wiretape.check.yaml'))
  })

  it('says that a recording is incomplete', async () => {
    expect(await check('cut.jsonl')).toMatchObject({
      stdout: expect.stringContaining('the recording is incomplete'),
    })
  })

  it('refuses invalid options in one line', async () => {
    for (const [args, why] of [
      [['--rules', 'nope'], 'unknown rule or pack "nope"'],
      [['--fail-on', 'nope'], '--fail-on "nope" is not a level or a rule'],
      [['--max-errors', 'x'], 'max-errors x is not a number'],
      [['--max-latency', 'a:x'], 'max-latency a:x is not a tool and a time'],
      [['--baseline', 'good.jsonl'], 'good.jsonl is not a baseline: it is not JSON'],
      [['--report', 'sarif'], '--report sarif needs a file'],
    ] as const) {
      const { code, stderr } = await check('good.jsonl', ...args)
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(why) })
      expect(stderr.trimEnd()).not.toContain('\n')
    }
  })

  it('writes reports that other programs read', async () => {
    const kinds = [
      'json=r.json',
      'sarif=r.sarif',
      'junit=r.xml',
      'ctrf=r.ctrf.json',
      'markdown=r.md',
      'github=-',
    ]
    const { stdout } = await check('bad.jsonl', ...kinds.flatMap((kind) => ['--report', kind]))
    expect(stdout).toMatch(
      /^::error title=schemas\/output::structuredContent of add.*\(bad\.jsonl:10 \(#8\)\)$/m,
    )
    const strict = 'import json,sys\nfor f in sys.argv[1:]: json.load(open(f), parse_constant=lambda c: 1/0)'
    execFileSync('python3', ['-c', strict, 'r.json', 'r.sarif', 'r.ctrf.json'], { cwd: folder })
    const xml = 'import xml.etree.ElementTree as e,sys\nprint(e.parse(sys.argv[1]).getroot().get("failures"))'
    expect(execFileSync('python3', ['-c', xml, 'r.xml'], { cwd: folder, encoding: 'utf8' }).trim()).toBe('1')
    const sarif = JSON.parse(read('r.sarif')) as { runs: { results: unknown[] }[] }
    expect(sarif.runs[0]!.results[0]).toMatchObject({
      ruleId: 'schemas/output',
      level: 'error',
      locations: [
        { physicalLocation: { artifactLocation: { uri: 'bad.jsonl' }, region: { startLine: 10 } } },
      ],
    })
    expect(read('r.md')).toContain('| error | [schemas/output](')
  })

  it('prints JSON as its published schema says', async () => {
    const published = JSON.parse(
      readFileSync(join(import.meta.dirname, '../../docs/schemas/check.schema.json'), 'utf8'),
    ) as object
    const validate = new Ajv2020({ strict: true, allErrors: true, strictRequired: false }).compile(published)
    const { stdout } = await check('bad.jsonl', 'good.jsonl', '--json')
    validate(JSON.parse(stdout))
    expect(validate.errors ?? []).toEqual([])
  })
})

describe('wiretape cost', () => {
  it('prints the tokens of definitions and results, and exits 1 above --max', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wiretape-cost-'))
    try {
      const unused = { name: 'unused', description: 'x'.repeat(400) }
      const tape = tapeOf([
        ...opened(),
        ...listed(tool, unused),
        ...called('add', {}, text('y'.repeat(4000))),
      ])
      writeFileSync(join(folder, 'a.jsonl'), tape)
      const run = await wiretape(['cost', 'a.jsonl', '--max', '100'], { cwd: folder })
      expect(run.code).toBe(1)
      expect(run.stdout).toMatch(/^ +1\d\d +100 +\d+ {2}unused {2}tool +0 +0 +0 {2}srv$/m)
      expect(run.stdout).toContain('1 tool was never called')
      const json = await wiretape(['cost', 'a.jsonl', '--json'], { cwd: folder })
      const { rows } = JSON.parse(json.stdout) as { rows: object[] }
      expect(rows).toMatchObject([
        { name: 'unused', calls: 0 },
        { name: 'add', calls: 1, largestResultTokens: expect.any(Number) },
      ])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('counts the result of a task once, and not the response that created it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wiretape-cost-'))
    try {
      const result = text('y'.repeat(4000))
      const related = { 'io.modelcontextprotocol/related-task': { taskId: 'a' } }
      const receipt = (taskId: string): object => ({ taskId, status: 'working', note: 'x'.repeat(9000) })
      const asked = (method: string, taskId: string, answer: object): Line[] =>
        ask(method, { taskId }, answer)
      const tape = tapeOf([
        ...opened(),
        ...listed(tool, { name: 'book' }),
        ...called('add', {}, { task: receipt('a') }),
        ...asked('tasks/get', 'a', { taskId: 'a', status: 'completed' }),
        ...asked('tasks/result', 'a', { ...result, _meta: related }),
        ...asked('tasks/result', 'a', { ...result, _meta: related }),
        ...called('book', {}, { resultType: 'task', ...receipt('b') }),
        ...asked('tasks/get', 'b', { taskId: 'b', status: 'working' }),
        ...asked('tasks/get', 'b', { taskId: 'b', status: 'completed', result }),
        ...called('book', {}, { resultType: 'task', ...receipt('c') }),
        fromServer('notifications/tasks', { taskId: 'c', status: 'completed', result }),
        ...called('book', {}, { resultType: 'task', ...receipt('d') }),
      ])
      writeFileSync(join(folder, 'a.jsonl'), tape)
      const { stdout } = await wiretape(['cost', 'a.jsonl', '--json'], { cwd: folder })
      const { rows } = JSON.parse(stdout) as { rows: { name: string; calls: number; resultTokens: number }[] }
      expect(
        rows.map(({ name, calls, resultTokens }) => [name, calls, Math.floor(resultTokens / 100)]),
      ).toEqual([
        ['add', 1, 10],
        ['book', 3, 20],
      ])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
