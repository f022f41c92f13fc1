import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { plainEnv, wiretape, type Run } from './run-cli.js'
import { useStage } from './stage.js'

const stage = useStage()

const check = (...args: string[]): Promise<Run> =>
  wiretape(['rules', 'check', ...args], { cwd: stage.folder, env: plainEnv(stage.env) })

describe('rules check', () => {
  it('prints the meaning of the rules', async () => {
    writeFileSync(stage.path('answer.json'), '{"error": {"code": -1, "message": "no"}}')
    writeFileSync(
      stage.path('rules.yaml'),
      `
seed: 7
rules:
  - { name: a, when: 'tool:search', set: { '$.params.arguments.query': 'x' }, times: 1 }
  - { name: b, when: '<', delay: 100ms..2s, every: 22, probability: 0.5 }
  - { name: c, when: 'tool:x', respond: { file: answer.json } }
  - { name: d, when: '', on: answers, replace: { pattern: 'a+', with: b } }`,
    )
    expect(await check('rules.yaml')).toEqual({
      code: 0,
      stdout: `✓ rules.yaml: 4 rules, seed 7
  a: tool is search
    sets $.params.arguments.query, at most 1 time
  b: from the server
    waits 100 to 2000 ms, every 22nd, with probability 0.5
  c: tool is x
    responds with an error
  d: answers: everything
    replaces /a+/
`,
      stderr: '',
    })
    const { stdout } = await check('--json', 'rules.yaml')
    expectSchema('rules-check', JSON.parse(stdout))
    expect(JSON.parse(stdout)).toMatchObject([
      { file: 'rules.yaml', seed: 7, faults: [], rules: [{ name: 'a' }, {}, {}, {}] },
    ])
  })

  it('reads stdin; files of responses are relative to the working directory', async () => {
    writeFileSync(stage.path('answer.json'), '{"result": {}}')
    const input = "rules: [{ name: a, when: 'tool:x', respond: { file: answer.json } }]"
    const options = { cwd: stage.folder, env: plainEnv(stage.env), input }
    expect(await wiretape(['rules', 'check', '-'], options)).toEqual({
      code: 0,
      stdout: '✓ stdin: 1 rule, seed 0\n  a: tool is x\n    responds with a result\n',
      stderr: '',
    })
    const latin1 = await wiretape(['rules', 'check', '-'], { ...options, input: Buffer.from([0xe4]) })
    expect(latin1).toEqual({
      code: 2,
      stdout: '',
      stderr: 'wiretape: stdin cannot be read: it is not UTF-8\n',
    })
  })

  it('says where a file is wrong and what was expected, and exits 1', async () => {
    writeFileSync(stage.path('bad.yaml'), `rules:\n  - name: "\\e[31ma"\n    when: 'tol:x'\n    drop: 1\n`)
    writeFileSync(stage.path('good.yaml'), 'rules: []')
    expect(await check('good.yaml', 'bad.yaml')).toEqual({
      code: 1,
      stdout: `✓ good.yaml: 0 rules, seed 0
✗ bad.yaml: 3 faults
  bad.yaml, line 2, column 11: name: expected a string of up to 60 characters without commas, in quotes if it is a number
  bad.yaml, line 3, column 12: when: unknown key tol: did you mean tool?
  bad.yaml, line 4, column 11: drop: expected true
`,
      stderr: '',
    })
  })

  it('exits 2 for a file that cannot be read', async () => {
    expect(await check('none.yaml')).toEqual({
      code: 2,
      stdout: '',
      stderr: 'wiretape: none.yaml cannot be read: no such file\n',
    })
  })

  it('checks the other files too when one cannot be read', async () => {
    writeFileSync(stage.path('good.yaml'), 'rules: []')
    writeFileSync(stage.path('bad.yaml'), `rules: [{ name: a, when: '', drop: 1 }]`)
    const { code, stdout, stderr } = await check('none.yaml', 'good.yaml', 'bad.yaml', 'gone.yaml')
    expect(code).toBe(2)
    expect(stdout).toContain('✓ good.yaml')
    expect(stdout).toContain('✗ bad.yaml: 1 fault')
    expect(stderr).toBe(
      'wiretape: none.yaml cannot be read: no such file\nwiretape: gone.yaml cannot be read: no such file\n',
    )
    const json = JSON.parse((await check('--json', 'none.yaml', 'good.yaml')).stdout)
    expect(json).toMatchObject([
      { file: 'none.yaml', faults: [{ line: null, message: 'cannot be read: no such file' }] },
      { file: 'good.yaml', faults: [] },
    ])
  })
})
