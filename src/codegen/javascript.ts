import { printArgument, printExpected, quoted, type Dialect } from './print.js'
import { messagePattern, type Expected } from './expected.js'
import type { Step, TestPlan, Variable } from './plan.js'
import { aboutLine, type About } from './about.js'

const types: Readonly<Record<string, string>> = {
  string: 'String',
  number: 'Number',
  boolean: 'Boolean',
  array: 'Array',
  object: 'Object',
}

/** `__proto__: …` would set the prototype. */
function memberName(name: string): string {
  if (name === '__proto__') return `['__proto__']`
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name)
}

const plain: Omit<Dialect, 'check'> = {
  none: 'null',
  yes: 'true',
  no: 'false',
  text: quoted,
  brace: ' ',
  entry: (name, value) => (name === value ? name : `${memberName(name)}: ${value}`),
  variable: (name) => name,
  secret: (name) => `process.env.${name}`,
  member: (of, step) =>
    typeof step === 'string' && /^[A-Za-z_$][\w$]*$/.test(step)
      ? `${of}.${step}`
      : `${of}[${typeof step === 'number' ? step : quoted(step)}]`,
}

const vitest: Dialect = {
  ...plain,
  pattern: (source) => `expect.stringMatching(/${source}/)`,
  any: (type) => `expect.any(${types[type]})`,
  check: (actual) => `expect(${actual}).toBeNull()`,
}

const node: Dialect = {
  ...plain,
  check(actual, expected) {
    if (expected.kind === 'pattern') return `assert.match(${actual}, /${expected.source}/)`
    if (expected.type === 'array') return `assert.ok(Array.isArray(${actual}))`
    if (expected.type === 'null') return `assert.equal(${actual}, null)`
    return `assert.equal(typeof ${actual}, '${expected.type}')`
  },
}

/** Differences between the two JavaScript runners. */
interface Runner {
  readonly dialect: Dialect
  readonly imports: readonly string[]
  /** Whether the file may contain TypeScript types. */
  readonly isTyped: boolean
  equal(actual: string, expected: string): string
  contains(actual: string, expected: string): string
  rejects(call: string, pattern: string): string
}

const runners: Readonly<Record<'vitest' | 'node-test', Runner>> = {
  vitest: {
    dialect: vitest,
    isTyped: true,
    imports: ["import { afterAll, beforeAll, describe, expect, test } from 'vitest'"],
    equal: (actual, expected) => `expect(${actual}).toEqual(${expected})`,
    contains: (actual, expected) => `expect(${actual}).toMatchObject(${expected})`,
    rejects: (call, pattern) => `await expect(${call}).rejects.toThrow(/${pattern}/)`,
  },
  'node-test': {
    dialect: node,
    isTyped: false,
    imports: [
      "import assert from 'node:assert/strict'",
      "import { after, before, describe, test } from 'node:test'",
    ],
    equal: (actual, expected) => `assert.deepEqual(${actual}, ${expected})`,
    contains: (actual, expected) => `assert.partialDeepStrictEqual(${actual}, ${expected})`,
    rejects: (call, pattern) => `await assert.rejects(${call}, /${pattern}/)`,
  },
}

/** A test file for vitest (TypeScript) or `node --test`, based on the official SDK. */
export function javascriptTests(plan: TestPlan, about: About, kind: 'vitest' | 'node-test'): string {
  const runner = runners[kind]
  const { isTyped } = runner
  const [before, after] = kind === 'vitest' ? ['beforeAll', 'afterAll'] : ['before', 'after']
  const { target } = about
  const isUrl = 'url' in target
  const environment = `env: { ...process.env }${isTyped ? ' as Record<string, string>' : ''}`
  const transport = isUrl
    ? [`new StreamableHTTPClientTransport(new URL(${quoted(target.url)}))`]
    : [
        'new StdioClientTransport({',
        `  command: ${quoted(target.command[0] ?? '')},`,
        `  args: [${target.command.slice(1).map(quoted).join(', ')}],`,
        `  ${environment},`,
        '})',
      ]
  const imports = [
    "import { Client } from '@modelcontextprotocol/sdk/client/index.js'",
    isUrl
      ? "import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'"
      : "import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'",
    ...runner.imports,
  ]
  const any = isTyped ? ': any' : ''
  const lines = [
    ...imports.toSorted((a, b) => Number(b.includes('node:')) - Number(a.includes('node:'))),
    '',
    ...comments(plan, about),
    `describe(${quoted(about.server)}, () => {`,
    `  const client = new Client({ name: 'test', version: '1.0.0' })`,
    ...plan.variables.map((name) => `  let ${name}${any}`),
    ...(plan.steps.some(({ method }) => method === 'tools/call')
      ? [
          isTyped
            ? `  const call = (name: string, args: any): Promise<any> => client.callTool({ name, arguments: args })`
            : `  const call = (name, args) => client.callTool({ name, arguments: args })`,
        ]
      : []),
    '',
    ...connectLines(before, transport),
    `  ${after}(() => client.close())`,
  ]
  for (const step of plan.steps)
    lines.push('', ...testLines(step, runner).map((line) => (line === '' ? '' : `  ${line}`)))
  lines.push('})', '')
  return lines.join('\n')
}

function connectLines(before: string, transport: readonly string[]): string[] {
  const [first = '', ...more] = transport
  const last = more.pop()
  if (last === undefined) return [`  ${before}(() => client.connect(${first}))`]
  return [
    `  ${before}(() =>`,
    '    client.connect(',
    ...[first, ...more, `${last},`].map((line) => `      ${line}`),
    '    ),',
    '  )',
  ]
}

function comments(plan: TestPlan, about: About): string[] {
  return [
    `// ${aboutLine(about)}`,
    ...(plan.secrets.length > 0
      ? [`// Needs ${plan.secrets.join(', ')} in the environment: the recording does not have these secrets.`]
      : []),
    ...plan.left.map((text) => `// Left out: ${text}.`),
  ]
}

function testLines(step: Step, runner: Runner): string[] {
  return [
    `test(${quoted(step.title)}, async () => {`,
    ...bodyLines(step, runner).map((line) => `  ${line}`),
    '})',
  ]
}

function bodyLines(step: Step, runner: Runner): string[] {
  const { outcome } = step
  const { dialect } = runner
  const request = requestOf(step, dialect)
  if (outcome.kind === 'error') return [runner.rejects(request, messagePattern(outcome.message))]
  if (outcome.kind === 'names') {
    const list = `[${outcome.names.map(quoted).join(', ')}]`
    const names =
      list.length <= 80 ? list : `[\n${outcome.names.map((name) => `    ${quoted(name)},\n`).join('')}  ]`
    return [
      `const { ${outcome.member} } = await ${request}`,
      runner.equal(`${outcome.member}.map((one) => one.${outcome.nameMember})`, names),
    ]
  }
  const statements: string[] = []
  const assert = (actual: string, expected: Expected, isWhole: boolean): void => {
    const checks: string[] = []
    const single = textPattern(expected)
    if (single !== undefined && !dialect.pattern) {
      statements.push(dialect.check('result.content[0].text', single))
      return
    }
    const text = printExpected(expected, actual, dialect, checks, '    ')
    statements.push(...checks, isWhole ? runner.equal(actual, text) : runner.contains(actual, text))
  }
  if (outcome.json) {
    statements.push('const answer = JSON.parse(result.content[0].text)')
    assert('answer', outcome.json, true)
  }
  const { expected } = outcome
  if (expected.kind !== 'map' || expected.members.length > 0) {
    if (dialect.pattern) assert('result', expected, false)
    else if (expected.kind === 'map')
      for (const [name, item] of expected.members) assert(dialect.member('result', name), item, true)
  }
  return [
    `const result = await ${request}`,
    ...statements,
    ...step.variables.map((variable) => assignment(variable, dialect)),
  ]
}

/** The pattern of a result that is a single varying text. */
export function textPattern(expected: Expected): Extract<Expected, { kind: 'pattern' }> | undefined {
  if (expected.kind !== 'list' || expected.items.length !== 1) return undefined
  const [item] = expected.items
  if (item?.kind !== 'map' || item.members.length !== 2) return undefined
  const [type, text] = ['type', 'text'].map((name) => item.members.find(([member]) => member === name)?.[1])
  return type?.kind === 'value' && text?.kind === 'pattern' ? text : undefined
}

function requestOf({ method, params }: Step, dialect: Dialect): string {
  const given = params.kind === 'map' ? params.members : []
  const of = (name: string): string => {
    const found = given.find(([member]) => member === name)?.[1]
    return found ? printArgument(found, dialect, '    ') : '{}'
  }
  if (method === 'tools/call') return `call(${of('name')}, ${of('arguments')})`
  if (method === 'tools/list') return 'client.listTools()'
  if (method === 'prompts/list') return 'client.listPrompts()'
  if (method === 'resources/list') return 'client.listResources()'
  if (method === 'resources/templates/list') return 'client.listResourceTemplates()'
  if (method === 'prompts/get')
    return `client.getPrompt({ name: ${of('name')}, arguments: ${of('arguments')} })`
  return `client.readResource({ uri: ${of('uri')} })`
}

function assignment({ name, path, within, pattern }: Variable, dialect: Dialect): string {
  const root = within === 'json' ? 'answer' : 'result'
  const place = path.reduce<string>((of, step) => dialect.member(of, step), root)
  return pattern === undefined ? `${name} = ${place}` : `${name} = /${pattern}/.exec(${place})[1]`
}
