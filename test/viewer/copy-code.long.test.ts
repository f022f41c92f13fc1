import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { everythingScript } from '../clients/everything.js'
import { parse } from 'yaml'
import { cli } from '../behaviour/stage.js'
import type { Session } from '../../src/model/index.js'
import {
  callFromOf,
  callOf,
  mockOf,
  pythonOf,
  ruleOf,
  toCall,
  typescriptOf,
} from '../../viewer/copying/copy-code.js'

/** The project's own folder, where the SDK is installed. */
const root = resolve(import.meta.dirname, '../..')

describe('a call that is copied as code', () => {
  let folder: string
  beforeAll(() => {
    // Programs find the SDK in the folders above them.
    mkdirSync(join(root, 'build'), { recursive: true })
    folder = mkdtempSync(join(root, 'build/copied-'))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const session = { url: null, command: [process.execPath, everythingScript, 'stdio'] } as unknown as Session
  const message = `it's "quoted" \\ \${HOME} \`x\` é漢\u{1f600} \u2028 */ ''' \n`
  const args = JSON.stringify({ message })
  const request = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${args}}}`
  const call = toCall(request)!

  it('is made once more by the TypeScript SDK', () => {
    const file = join(folder, 'call.mjs')
    writeFileSync(file, typescriptOf(request, session))
    const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    const result = JSON.parse(stdout || stderr) as { content: { text: string }[] }
    expect(result.content[0]!.text).toBe(`Echo: ${message}`)
  })

  it('is made of other requests by the TypeScript SDK, too', () => {
    const file = join(folder, 'list.mjs')
    writeFileSync(file, typescriptOf('{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}', session))
    const { stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
    expect(stdout).toContain('"name": "echo"')
    expect(typescriptOf('{"id":1,"method":"x","params":{"__proto__":1}}', session)).toContain('JSON.parse(')
  })

  it('is made once more by wiretape call', () => {
    const recorded = `${process.execPath} ${cli} call --json --out ${folder}`
    const command = callOf(call, session).replace(/^wiretape call/, recorded)
    const { stdout } = spawnSync('sh', ['-c', command], { encoding: 'utf8', cwd: tmpdir() })
    expect(stdout).toContain(JSON.stringify(`Echo: ${message}`).slice(1, 20))
  })

  it('is a program in Python that holds the same arguments', () => {
    const program = pythonOf(call, session)
    writeFileSync(
      join(folder, 'look.py'),
      `import ast, json, sys\ntree = ast.parse(open(sys.argv[1], encoding='utf-8').read())\ncalls = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, 'attr', '') == 'loads']\nprint(json.dumps(json.loads(calls[0].args[0].value)))\n`,
    )
    writeFileSync(join(folder, 'call.py'), program)
    const { stdout, error } = spawnSync('python3', [join(folder, 'look.py'), join(folder, 'call.py')], {
      encoding: 'utf8',
    })
    if (error) return void process.stderr.write('left out: Python, which is not installed\n')
    expect(JSON.parse(stdout)).toEqual({ message })
    expect(pythonOf(call, { url: 'http://x/mcp', transport: 'streamable-http' } as Session)).toContain(
      'streamablehttp_client("http://x/mcp")',
    )
    return undefined
  })

  it('is a rule that answers the same call so, and no other', () => {
    const answer = '{"jsonrpc":"2.0","id":7,"result":{"content":[],"n":12345678901234567890,"f":1.0}}'
    const simple = toCall(
      '{"method":"tools/call","params":{"name":"my tool","arguments":{"q":"a \\"b\\"","n":5,"deep":{}}}}',
    )!
    const file = join(folder, 'rules.yaml')
    writeFileSync(file, ruleOf(simple, answer))
    const { stdout, status } = spawnSync(process.execPath, [cli, 'rules', 'check', file], {
      encoding: 'utf8',
    })
    expect({ stdout, status }).toMatchObject({ status: 0 })
    expect(ruleOf(simple, answer)).toContain('"n":12345678901234567890,"f":1.0')
    expect(ruleOf(simple, answer)).toContain(
      String.raw`path:$.params.arguments.q=\"a \\\"b\\\"\" path:$.params.arguments.n=5`,
    )
  })

  it('is a rule with a valid name and visible characters, whatever the tool is called', () => {
    const name = `a,\u202e\u0007"b" ${'long '.repeat(20)}\u{e006f}`
    const call = toCall(JSON.stringify({ method: 'tools/call', params: { name } }))!
    const rule = ruleOf(call, '{"jsonrpc":"2.0","id":7,"result":{"x":"\u200b"}}')
    expect(rule).not.toMatch(/(?!\n)[\p{Cc}\p{Cf}]/u)
    const file = join(folder, 'rules.yaml')
    writeFileSync(file, rule)
    const { stderr, status } = spawnSync(process.execPath, [cli, 'rules', 'check', file], {
      encoding: 'utf8',
    })
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    const { rules } = parse(rule) as { rules: { when: string; respond: unknown }[] }
    expect(rules[0]!.respond).toEqual({ result: { x: '\u200b' } })
    expect(rules[0]!.when).toContain('\u{e006f}')
  })

  it('is code for prompts and resources, too', () => {
    const prompt = toCall('{"method":"prompts/get","params":{"name":"plan","arguments":{"city":"Oslo"}}}')!
    const resource = toCall('{"method":"resources/read","params":{"uri":"demo://a/1"}}')!
    const answer = '{"jsonrpc":"2.0","id":7,"result":{"contents":[]}}'
    const file = join(folder, 'rules.yaml')
    for (const [call, filter] of [
      [prompt, 'method:prompts/get prompt:plan path:$.params.arguments.city=Oslo'],
      [resource, 'method:resources/read resource:demo://a/1'],
    ] as const) {
      writeFileSync(file, ruleOf(call, answer))
      const { stdout, stderr, status } = spawnSync(process.execPath, [cli, 'rules', 'check', file], {
        encoding: 'utf8',
      })
      expect({ stdout, stderr, status }).toMatchObject({ status: 0 })
      expect(ruleOf(call, answer).replaceAll(String.raw`\"`, '')).toContain(filter)
      writeFileSync(join(folder, 'program.py'), pythonOf(call, session))
      const python = spawnSync('python3', ['-m', 'py_compile', join(folder, 'program.py')], {
        encoding: 'utf8',
      })
      if (!python.error) expect(python.stderr).toBe('')
    }
    expect(pythonOf(prompt, session)).toContain(`get_prompt("plan", json.loads("{\\"city\\":\\"Oslo\\"}"))`)
    expect(pythonOf(resource, session)).toContain('read_resource(AnyUrl("demo://a/1"))')
    expect(callFromOf('-my file.jsonl', 12)).toBe(`wiretape call --from './-my file.jsonl' 12`)
  })

  it('is a mock that gives the same answer, without anything else that was recorded', () => {
    const request = '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"it\'s","arguments":{}}}'
    const answer = '{"jsonrpc":"2.0","id":7,"result":{"content":[],"n":12345678901234567890}}'
    const [write, serve] = mockOf("a server's", request, answer)
      .trimEnd()
      .split(/\n(?=wiretape )/)
    expect(serve).toBe('wiretape mock mock.jsonl --repeat-last')
    spawnSync('sh', ['-c', write!], { cwd: folder })
    const { stdout } = spawnSync(process.execPath, [cli, 'mock', 'mock.jsonl', '--repeat-last'], {
      cwd: folder,
      encoding: 'utf8',
      input: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}\n${request}\n`,
    })
    expect(stdout).toContain('"serverInfo"')
    expect(stdout).toContain('"id":7,"result":{"content":[],"n":12345678901234567890}')
  })

  it('is nothing else than a call', () => {
    expect(toCall('[]')).toBeUndefined()
    expect(toCall('{"method":"tools/call"}')).toBeUndefined()
    expect(toCall('{"method":"ping"}')).toBeUndefined()
    expect(toCall('{"method":"tools/call","params":{"name":"x","arguments":null}}')).toEqual({
      method: 'tools/call',
      name: 'x',
      args: '{}',
    })
  })
})
