import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { cli, printed, server, until } from './stage.js'
import { price, text, useCallFiles, varying } from './run-stage.js'

const { stage, here, save } = useCallFiles()

const note = { tool: 'add_note', arguments: { text: 'milk' } }

describe('wiretape run', () => {
  it('exits 0 when every response of a folder is as expected', async () => {
    const content = [{ type: 'text', text: '{"price": 4.50, "currency": "EUR", "item": "tea"}' }]
    save('a.yaml', {
      calls: [
        { name: 'as a whole', request: price, expect: { result: { content } } },
        { name: 'a value', request: price, expect: { values: { [`${text}.price`]: 4.5 } } },
        { name: 'no expectation', request: { method: 'tools/list' } },
      ],
    })
    save('deep/b.yml', {
      calls: [
        { name: 'forms', request: note, expect: { match: { [text]: 'uuid', '$..at': 'timestamp' } } },
        { name: 'failed', request: { tool: 'fail' }, expect: { fails: true, match: { [text]: '/disk/' } } },
        {
          name: 'refused',
          request: { tool: 'nosuch' },
          expect: { error: { code: -32602, message: 'Unknown tool: nosuch' } },
        },
      ],
    })
    save('notes.txt', {})
    expect(await here('run', 'calls')).toEqual({ code: 0, stdout: 'Same: 6 exchanges\n', stderr: '' })
    const { stdout } = await here('run', 'calls', '--all')
    expect(stdout.match(/^ {2}same .*/gm)).toEqual([
      '  same       as a whole (tools/call price)  calls/a.yaml:6',
      expect.stringContaining('a value'),
      expect.stringContaining('no expectation (tools/list)'),
      expect.stringMatching(/forms \(tools\/call add_note\) {2}calls\/deep\/b\.yml:\d+$/),
      expect.stringContaining('failed'),
      expect.stringContaining('refused'),
    ])
  })

  it('exits 1 and names the place where a response differs', async () => {
    save('a.yaml', {
      calls: [
        { name: 'dearer', request: price, expect: { values: { [`${text}.price`]: 3 } } },
        {
          name: 'about as dear',
          request: price,
          expect: { values: { [`${text}.price`]: 4.4 }, match: { [`${text}.price`]: 'number~0.2' } },
        },
        { name: 'no clock', request: price, expect: { match: { [`${text}.item`]: 'timestamp' } } },
        { name: 'nowhere', request: price, expect: { match: { '$.result.structuredContent': 'any' } } },
        { name: 'an error', request: { tool: 'fail' } },
        { name: 'no error', request: price, expect: { fails: true } },
        { name: 'no such error', request: price, expect: { error: { code: 1 } } },
        { name: 'no such result', request: { tool: 'nosuch' }, expect: { result: {} } },
        { name: 'no such list', request: { method: 'tools/list' }, expect: { result: { tools: [] } } },
      ],
    })
    const { code, stdout, stderr } = await here('run', 'calls/a.yaml')
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    const lines = stdout.replaceAll(/ {2}calls\/a\.yaml:\d+$/gm, '').split('\n')
    expect(lines.slice(0, 15)).toEqual([
      '  changed    dearer (tools/call price)',
      '    ~ result.content[0].text.price 3 → 4.5',
      '  changed    no clock (tools/call price)',
      '    ~ result.content[0].text.item "‹timestamp›" → "tea"',
      '  changed    nowhere (tools/call price)',
      '    - result.structuredContent "‹any›"',
      '  error now  an error (tools/call fail)',
      '    isError: It failed: disk is full',
      '  fixed now  no error (tools/call price)',
      '    expected an error but got a result',
      '  fixed now  no such error (tools/call price)',
      '    - error {"code":1}',
      expect.stringContaining('    + result {"content":['),
      '  error now  no such result (tools/call nosuch)',
      '    error -32602: Unknown tool: nosuch',
    ])
    expect(lines.slice(15).filter((line) => line.startsWith('    + result.tools[')).length).toBe(5)
    expect(lines.at(-2)).toBe('Different: 1 same, 4 changed, 2 error now, 2 fixed now')
  })

  it('exits 2 and still writes reports when a server cannot be started', async () => {
    save('a.yaml', {
      server: { command: ['/nonexistent'] },
      calls: [
        { name: 'one', request: price },
        { name: 'two', request: price },
        { name: 'three', server: { command: varying }, request: price },
      ],
    })
    const { code, stdout, stderr } = await here('run', 'calls', '--report', 'json=report.json')
    expect({ code, stdout }).toEqual({ code: 2, stdout: 'Different: 1 same, 2 not sent\n' })
    expect(stderr).toBe(
      'wiretape: 2 calls not sent to /nonexistent: cannot start "/nonexistent": no such program\n',
    )
    expectSchema('diff', JSON.parse(readFileSync(stage.path('report.json'), 'utf8')))
  })

  it('ends at Ctrl-C, and leaves no server behind', async () => {
    save('a.yaml', {
      calls: [
        { name: 'first', request: price },
        { name: 'silent', request: price, server: { command: server('deaf.mjs') } },
        { name: 'late', request: price },
      ],
    })
    const run = stage.start([
      process.execPath,
      cli,
      'run',
      'calls',
      '--all',
      '--timeout',
      '1h',
      '--report',
      'json=report.json',
    ])
    await printed(run, 'first')
    await until('the silent server runs', () => stage.runningAs('deaf.mjs').length === 1)
    run.child.kill('SIGINT')
    expect(await run.ended).toMatchObject({ exitCode: 130 })
    expect(run.stdout().toString()).toContain('Different: 1 same, 2 not sent\n')
    expect(JSON.parse(readFileSync(stage.path('report.json'), 'utf8'))).toMatchObject({ same: false })
    expect(stage.running()).toEqual([])
  })

  it.each<[string, string, string]>([
    ['no YAML', 'calls: [', 'line 1, column 9: is not valid YAML here: '],
    ['no calls', 'server: x\n', 'line 1, column 1: expected `calls:` and a list, each call after a `-`'],
    [
      'an unknown member',
      'calls:\n  - name: a\n    request: {tool: x}\n    expects: {}\n',
      'line 4, column 5: call 1 has "expects": did you mean expect?',
    ],
    [
      'an unknown variable',
      'calls:\n  - name: a\n    request: {tool: "${x}"}\n',
      'line 3, column 21: unknown variable x: add it to variables, or use --var x=VALUE',
    ],
    [
      'an unknown matcher',
      "calls:\n  - name: a\n    request: {tool: x}\n    expect: {match: {'$.result': uid}}\n",
      'line 4, column 34: match: it has an unknown matcher: uid',
    ],
  ])('refuses a file with %s, and starts no server', async (_, content, why) => {
    mkdirSync(stage.path('calls'))
    writeFileSync(stage.path('calls/bad.yaml'), content)
    save('good.yaml', { server: { command: ['/nonexistent'] }, calls: [{ name: 'a', request: price }] })
    const { code, stdout, stderr } = await here('run', 'calls')
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 })
    expect(stderr).toContain(`wiretape: calls/bad.yaml, ${why}`)
  })

  it.each<[string[], string]>([
    [['nowhere'], 'cannot read nowhere: no such file or directory'],
    [['.'], '. has no saved calls (saved calls are in files that end with .yaml or .yml)'],
    [['calls', '--var', 'x'], '--var "" is not a name and a value'],
    [['calls', '--var', 'x=1'], '--var x: no call uses this variable (write ${x} where its value belongs)'],
    [['calls', '--url', 'http://127.0.0.1:1/', '--', 'node'], '--url and a command cannot be combined'],
    [['calls', '--header', 'a: b'], '--header needs --url'],
    [['calls', '--report', 'junit=calls/a.yaml'], 'calls/a.yaml'],
  ])('refuses %j', async (args, why) => {
    if (args[0] === 'calls') save('a.yaml', { calls: [{ name: 'a', request: price }] })
    expect(await here('run', ...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(why),
    })
  })

  it('refuses calls without a server', async () => {
    save('a.yaml', { server: undefined, calls: [{ name: 'a', request: price }] })
    expect(await here('run', 'calls')).toMatchObject({
      code: 2,
      stderr:
        'wiretape: calls/a.yaml, line 2: the call has no server (add server: to the file, --url URL, or -- COMMAND)\n',
    })
    expect(await here('run', 'calls', '--', ...varying)).toMatchObject({ code: 0 })
  })
})
