import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import stringWidth from 'string-width'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { fixtures, leftOut, plainEnv, run, unstyled, wiretape, type Run } from './run-cli.js'
import { cli, createStage, recordPing } from './stage.js'

const everyKind = 'every-kind.jsonl'
const stage = createStage()
afterAll(() => stage.close())

const golden = (name: string): string => join(fixtures, 'expected', `${name}.txt`)

describe('inspect prints', () => {
  it.each([
    ['every kind of row', 'list', [everyKind]],
    ['payloads and stderr with -v, numbers as they were written', 'verbose', ['-v', everyKind]],
    ['a recording of another tool', 'plain-v1', ['plain-v1.jsonl']],
    ['a recording that was cut off', 'cut-off', ['cut-off.jsonl']],
    ['a file with lines that cannot be read', 'bad-lines', ['bad-lines.jsonl']],
    [
      'several recordings by time, with their labels',
      'merged',
      [everyKind, 'another.jsonl', 'faultless.jsonl'],
    ],
    [
      'the segments of a session as one recording',
      'rotated',
      ['rotated.jsonl', 'rotated.1.jsonl', 'rotated.2.jsonl'],
    ],
    ['every fault', 'check', ['--check', everyKind]],
  ])('%s', async (_, name, args) => {
    const { stdout, stderr } = await wiretape(['inspect', '--no-findings', ...args])
    expect(stderr).toBe('')
    await expect(stdout).toMatchFileSnapshot(golden(name))
  })

  it.each([
    [['rotated.2.jsonl', 'rotated.jsonl', 'rotated.1.jsonl']],
    [['rotated.jsonl']],
    [['rotated.1.jsonl']],
    [['./rotated.2.jsonl', 'rotated.1.jsonl']],
  ])('the same for segments in any order on the command line, or for some of them: %s', async (names) => {
    const inOrder = await wiretape(['inspect', 'rotated.jsonl', 'rotated.1.jsonl', 'rotated.2.jsonl'])
    expect(await wiretape(['inspect', ...names])).toEqual(inOrder)
  })

  it('the same from stdin, from a pipe with a name, and from the file', async () => {
    const file = await wiretape(['inspect', everyKind])
    const input = readFileSync(join(fixtures, everyKind))
    expect(await wiretape(['inspect', '-'], { input })).toEqual(file)
    const shell = `${process.execPath} ${cli} inspect <(cat ${everyKind})`
    expect(await run(['bash', '-c', shell])).toEqual(file)
  })

  it('one line where stdin cannot be read', async () => {
    const shell = `exec ${process.execPath} ${cli} inspect - 0>${stage.path('written')}`
    const stderr = 'wiretape: cannot read stdin: it is not open for reading\n'
    expect(await run(['bash', '-c', shell])).toEqual({ code: 2, stdout: '', stderr })
  })

  it('notes below the messages, with the message that each is about or stands after', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wiretape-notes-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const path = join(folder, 'noted.jsonl')
    const t = '"t":"2026-08-01T10:00:00.000Z"'
    const note = (text: string, more = ''): string => `{${t},"type":"note","us":1,"text":"${text}"${more}}`
    const ping = (id: string, seq: number): string =>
      `{${t},"dir":"in","id":"${id}","seq":${seq},"us":1,"raw":{"jsonrpc":"2.0","method":"n"}}`
    const lines = [
      readFileSync(join(fixtures, 'faultless.jsonl'), 'utf8').split('\n')[0]!,
      note('at the start'),
      ping('a', 0),
      ping('b', 1),
      note('later\\n\\u001b[31m'),
      note('this one', ',"about":"a"'),
      ...Array.from({ length: 20 }, () => note('again')),
      `{${t},"type":"end","exitCode":0,"durationMs":1}`,
    ]
    writeFileSync(path, `${lines.join('\n')}\n`)
    const { stdout } = await wiretape(['inspect', path])
    expect(
      stdout
        .split('\n')
        .filter((line) => /note/.test(line))
        .slice(0, 4),
    ).toEqual([
      'note: at the start',
      String.raw`note after #1: later\n\u{1b}[31m`,
      'note on #0: this one',
      'note after #1: again',
    ])
    expect(stdout).toContain('\nand 3 more notes\n✓ no faults\n')
    const { recordings } = JSON.parse((await wiretape(['inspect', '--json', path])).stdout)
    expect(recordings[0].notes).toHaveLength(23)
    expect(recordings[0].notes[2]).toEqual({
      timestamp: '2026-08-01T10:00:00.000Z',
      text: 'this one',
      about: 0,
      after: null,
      restart: false,
    })
  })

  it('columns that line up, wide characters and emoji included', async () => {
    const { stdout } = await wiretape(['inspect', everyKind, 'another.jsonl'])
    const lines = stdout.split('\n')
    const header = lines.find((line) => line.includes('latency'))!
    const at = stringWidth(header.slice(0, header.indexOf('what'))) - 2
    const arrows = lines.flatMap((line) => {
      const cut = /^.*?(?=[→←▒] )/.exec(line)
      return cut ? [stringWidth(cut[0])] : []
    })
    expect(arrows.length).toBeGreaterThan(20)
    expect(new Set(arrows)).toEqual(new Set([at]))
  })
})

describe('inspect --json', () => {
  it.each([
    [everyKind],
    ['plain-v1.jsonl'],
    ['cut-off.jsonl'],
    ['bad-lines.jsonl'],
    ['hostile.jsonl'],
    ['hostile-start.jsonl'],
    ['rotated.1.jsonl'],
  ])('is JSON for %s, with the exact payloads', async (name) => {
    const { stdout, code } = await wiretape(['inspect', '--json', '-v', name])
    expect(code).toBe(0)
    const { recordings, messages } = JSON.parse(stdout)
    expect(recordings).toHaveLength(1)
    const payloads = messages.filter((row: { payload?: unknown }) => row.payload !== undefined)
    expect(payloads).toHaveLength(recordings[0].counts.messages)
    for (const line of readFileSync(join(fixtures, name), 'utf8').split('\n')) {
      const raw = /^\{"t":"[^"]*","dir":"(?:in|out)","raw":(\{.*\}),"id":".*\}$/.exec(line)?.[1]
      if (raw !== undefined) expect(stdout).toContain(`"payload":${raw}}`)
    }
  })

  it('has the same facts as the list', async () => {
    const { stdout } = await wiretape(['inspect', '--json', everyKind])
    const { recordings, messages } = JSON.parse(stdout)
    expect(recordings[0]).toMatchObject({
      files: [everyKind],
      format: 'trace-v1',
      sessions: [
        { label: 'every-kind', metadata: { target: 'staging', run: 7 }, complete: true, exitCode: 0 },
      ],
      counts: { messages: 24, unanswered: 2, late: 1, orphans: 1, noise: 1, stderr: 1, gaps: 2, lost: 3 },
    })
    const numbered = new Map(messages.map((row: { sequence: number | null }) => [row.sequence, row]))
    expect(numbered.get(7)).toMatchObject({
      kind: 'result',
      direction: 'server_to_client',
      request: { sequence: 3, method: 'tools/call', subject: 'sum' },
      latencyUs: 1_248_500,
      waitedUs: 1500,
      jsonrpcId: 1,
    })
    expect(numbered.get(9)).toMatchObject({ jsonrpcId: 'a-long-string-id', facts: [] })
    expect(numbered.get(12)).toMatchObject({
      error: { code: '-32002', message: 'Resource not found: 数据.csv 🎞' },
    })
    expect(numbered.get(13)).toMatchObject({ facts: ['unanswered'] })
    expect(numbered.get(0)).not.toHaveProperty('payload')
  })
})

describe('inspect --check', () => {
  const meta = readFileSync(join(fixtures, 'faultless.jsonl'), 'utf8').split('\n')[0]!
  const end =
    '{"t":"2026-03-01T10:00:01.000Z","type":"end","exitCode":0,"durationMs":1000,"wiretape":{"messages":1}}'
  const uuid = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
  let messages = 0
  const message = (dir: string, raw: unknown, more: object = {}): string => {
    const n = messages++
    const own = JSON.stringify({ id: uuid(n), seq: n, us: n * 1000, ...more }).slice(1)
    return `{"t":"2026-03-01T10:00:00.000Z","dir":"${dir}","raw":${JSON.stringify(raw)},${own}`
  }
  const ping = (id: unknown): object => ({ jsonrpc: '2.0', id, method: 'ping' })
  const pong = (id: unknown): object => ({ jsonrpc: '2.0', id, result: {} })
  const lines = (make: () => readonly string[]): string => {
    messages = 0
    return [meta, ...make(), end, ''].join('\n')
  }
  const long = { jsonrpc: '2.0', method: 'x', params: { text: 'x'.repeat(10 * 1024 * 1024) } }

  it.each<[string, string, string]>([
    ['a request without a response', 'unanswered', lines(() => [message('in', ping(1))])],
    ['an answer without a request', 'orphan', lines(() => [message('out', pong(1))])],
    [
      'an answer to what was answered',
      'late',
      lines(() => [
        message('in', ping(1)),
        message('out', pong(1), { corr: uuid(0) }),
        message('out', pong(1), { corr: uuid(0), late: true }),
      ]),
    ],
    [
      'an id that is used twice',
      'duplicate-id',
      lines(() => [message('in', ping(1)), message('in', ping(1), { dup: uuid(0) })]),
    ],
    [
      'a line that is not JSON',
      'noise',
      lines(() => ['{"type":"noise","t":"2026-03-01T10:00:00.000Z","us":1,"dir":"out","text":"hello"}']),
    ],
    ['JSON that is not JSON-RPC', 'invalid', lines(() => [message('out', { hello: 1 })])],
    [
      'a gap',
      'gap',
      lines(() => ['{"type":"gap","t":"2026-03-01T10:00:00.000Z","us":1,"lost":2,"why":"disk full"}']),
    ],
    [
      'a message that did not arrive',
      'undelivered',
      lines(() => [
        message('out', { jsonrpc: '2.0', method: 'x' }),
        `{"type":"undelivered","t":"2026-03-01T10:00:00.000Z","us":2,"id":"${uuid(0)}","why":"closed"}`,
      ]),
    ],
    ['a line that SDK clients refuse', 'long-line', lines(() => [message('out', long)])],
    ['a missing end', 'incomplete', `${meta}\n`],
    ['a line that is cut off', 'torn-line', `${meta}\n{"t":"2026`],
    ['a line that is no record', 'not-json', `${meta}\noops\n${end}\n`],
    ['a missing start', 'no-meta', `${end}\n`],
  ])('finds %s and exits with 1', async (_, code, input) => {
    writeFileSync(stage.path('faulty.jsonl'), input)
    const check = (...options: string[]): Promise<Run> =>
      wiretape(['inspect', '--check', ...options, 'faulty.jsonl'], { cwd: stage.folder })
    const { stdout, code: status } = await check()
    expect(stdout).toContain('✗ faulty.jsonl: ')
    expect(stdout).toMatch(new RegExp(`^  ${code} +\\S`, 'm'))
    expect(status).toBe(1)
    const json = await check('--json')
    expect(json.code).toBe(1)
    expect(
      JSON.parse(json.stdout).recordings[0].faults.map((fault: { code: string }) => fault.code),
    ).toContain(code)
  })

  it('finds missing segments, and names their files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'wiretape-segments-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const check = (...names: string[]): Promise<Run> => {
      rmSync(folder, { recursive: true })
      mkdirSync(folder)
      for (const name of names) copyFileSync(join(fixtures, name), join(folder, name))
      return wiretape(['inspect', '--check', names[0]!], { cwd: folder })
    }
    const middle = await check('rotated.2.jsonl', 'rotated.jsonl')
    expect(middle.code).toBe(1)
    expect(middle.stdout).toContain('missing-segment  segment 1 is missing: rotated.1.jsonl')
    const first = await check('rotated.2.jsonl')
    expect(first.stdout).toContain('segments 0 to 1 are missing: rotated.jsonl to rotated.1.jsonl')
    const last = await check('rotated.jsonl', 'rotated.1.jsonl')
    expect(last.stdout).toContain('the recording continues in segment 2, which is missing: rotated.2.jsonl')
  })

  it('exits with 0 for recordings without fault', async () => {
    const result = await wiretape([
      'inspect',
      '--check',
      'faultless.jsonl',
      'another.jsonl',
      'plain-v1.jsonl',
    ])
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout.match(/^✓ .*no faults$/gm)).toHaveLength(3)
  })

  it('exits with 1 when one of several has a fault', async () => {
    const { code, stdout } = await wiretape(['inspect', '--check', 'faultless.jsonl', 'cut-off.jsonl'])
    expect(code).toBe(1)
    expect(stdout).toContain('✓ faultless.jsonl')
    expect(stdout).toContain('✗ cut-off.jsonl')
  })
})

describe('inspect colours', () => {
  const styled = /\u001b\[/
  it('are not printed where stdout is not a terminal', async () => {
    expect((await wiretape(['inspect', everyKind])).stdout).not.toMatch(styled)
  })

  it('are printed with FORCE_COLOR, and the text is the same', async () => {
    const plain = await wiretape(['inspect', everyKind])
    const env = plainEnv({ FORCE_COLOR: '1' })
    const colourful = await wiretape(['inspect', everyKind], { env })
    expect(colourful.stdout).toMatch(styled)
    expect(unstyled(colourful.stdout)).toBe(plain.stdout)
  })
})

describe('inspect', () => {
  it('says so when its output cannot be written', async () => {
    if (leftOut(process.platform === 'linux', 'no /dev/full')) return
    const result = await run(['bash', '-c', `${process.execPath} ${cli} inspect ${everyKind} > /dev/full`])
    expect(result.code).toBe(2)
    expect(result.stderr).toBe('wiretape: cannot write to stdout: no space left on device\n')
  })

  it('changes nothing in the folder of a recording', async () => {
    const copy = stage.path('copy.jsonl')
    copyFileSync(join(fixtures, everyKind), copy)
    await wiretape(['inspect', copy])
    expect(readFileSync(copy)).toEqual(readFileSync(join(fixtures, everyKind)))
  })

  it('reads a tape that is being written, and one whose recorder was killed', async () => {
    const { actor, tape } = await recordPing(stage)
    for (const state of ['running', 'killed']) {
      if (state === 'killed') {
        actor.child.kill('SIGKILL')
        await actor.ended
      }
      const { stdout, code } = await wiretape(['inspect', tape])
      expect(code).toBe(0)
      expect(stdout).toContain('→ ping')
      expect(stdout).toContain('← result of #0 ping')
      expect(stdout).toContain('incomplete')
    }
  })
})
