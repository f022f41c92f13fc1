import { quoteValue } from '../../src/filter/index.js'
import type { Session } from '../../src/model/index.js'
import { escapeJson, indentJson } from '../../src/render/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { shellWord } from './copy-forms.js'

/** A recorded call of a tool, a request for a prompt, or the reading of a resource. */
interface Call {
  readonly method: 'tools/call' | 'prompts/get' | 'resources/read'
  /** Name of the tool or prompt, or URI of the resource. */
  readonly name: string
  /** Exact JSON text. */
  readonly args: string
}

/** The filter key for the name, by method. */
const nameKeys = { 'tools/call': 'tool', 'prompts/get': 'prompt', 'resources/read': 'resource' } as const

function isCallMethod(method: string): method is Call['method'] {
  return Object.hasOwn(nameKeys, method)
}

/** Undefined for all other messages. */
export function toCall(text: string): Call | undefined {
  const request = objectOf(text)
  const method = request?.string('method') ?? ''
  if (!isCallMethod(method)) return undefined
  const params = objectOf(request?.raw('params') ?? '')
  const name = params?.string(method === 'resources/read' ? 'uri' : 'name')
  if (name === undefined) return undefined
  const args = params?.raw('arguments') ?? ''
  return { method, name, args: args.startsWith('{') ? args : '{}' }
}

/** @param text with one JSON value; returns undefined if that is no object */
function objectOf(text: string): JsonObject | undefined {
  const start = text.length - text.trimStart().length
  return text[start] === '{' ? new JsonObject(text, start) : undefined
}

/** The command that calls this tool of the recorded server again, and records it. */
export function callOf({ name, args }: Call, session: Session | undefined): string {
  const target =
    session && session.url !== null
      ? ` --url ${shellWord(session.url)}`
      : ` -- ${(session?.command ?? []).map(shellWord).join(' ') || 'SERVER'}`
  return `wiretape call ${shellWord(name)} ${shellWord(args)}${target}`
}

/** The command that sends any other request of a recording to its server again, and records it. */
export function callFromOf(file: string, seq: number): string {
  return `wiretape call --from ${shellWord(file.replace(/^-/, './-'))} ${seq}`
}

/** A program with the official TypeScript SDK. It contains no types, so Node runs it directly. */
export function typescriptOf(text: string, session: Session | undefined): string {
  const call = toCall(text)
  const isTool = call?.method === 'tools/call'
  const { module, made } = jsTransport(session)
  const imports = [
    `import { Client } from '@modelcontextprotocol/sdk/client/index.js'`,
    module,
    ...(isTool ? [] : [`import { ResultSchema } from '@modelcontextprotocol/sdk/types.js'`]),
  ]
  const request = objectOf(text)
  const method = request?.string('method') ?? ''
  const params = request?.raw('params')
  const asked = isTool
    ? `client.callTool({ name: ${JSON.stringify(call.name)}, arguments: ${jsValue(call.args)} })`
    : `client.request({ method: ${JSON.stringify(method)}${params === undefined ? '' : `, params: ${jsValue(params)}`} }, ResultSchema)`
  return `${imports.join('\n')}

const client = new Client({ name: 'example', version: '1.0.0' })
await client.connect(${made})
const result = await ${asked}
console.log(JSON.stringify(result, null, 2))
await client.close()
`
}

function jsTransport(session: Session | undefined): { readonly module: string; readonly made: string } {
  if (session && session.url !== null) {
    const isOld = session.transport === 'sse'
    const name = isOld ? 'SSEClientTransport' : 'StreamableHTTPClientTransport'
    return {
      module: `import { ${name} } from '@modelcontextprotocol/sdk/client/${isOld ? 'sse' : 'streamableHttp'}.js'`,
      made: `new ${name}(new URL(${JSON.stringify(session.url)}))`,
    }
  }
  const [command = 'SERVER', ...args] = session?.command ?? []
  return {
    module: `import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'`,
    made: `new StdioClientTransport({ command: ${JSON.stringify(command)}, args: ${JSON.stringify(args)} })`,
  }
}

/** JSON is valid JavaScript, except for a member that would set the prototype. */
function jsValue(json: string): string {
  const pretty = indentJson(json)
  return pretty.includes('__proto__') ? `JSON.parse(${JSON.stringify(json)})` : pretty
}

/** A program with the official Python SDK. */
export function pythonOf(call: Call, session: Session | undefined): string {
  const isHttp = session !== undefined && session.url !== null
  const isOld = session?.transport === 'sse'
  const client = isOld ? 'sse' : 'streamable_http'
  const used = isOld ? 'sse_client' : 'streamablehttp_client'
  const [command = 'SERVER', ...rest] = session?.command ?? []
  const lines = isHttp
    ? [
        'from mcp import ClientSession',
        `from mcp.client.${client} import ${used}`,
        '',
        'async def main():',
        `    async with ${used}(${python(session.url ?? '')}) as (read, write${isOld ? '' : ', _'}):`,
      ]
    : [
        'from mcp import ClientSession, StdioServerParameters',
        'from mcp.client.stdio import stdio_client',
        '',
        'async def main():',
        `    server = StdioServerParameters(command=${python(command)}, args=[${rest.map(python).join(', ')}])`,
        '    async with stdio_client(server) as (read, write):',
      ]
  return `${['import asyncio', ...(call.args === '{}' ? [] : ['import json']), ...(call.method === 'resources/read' ? ['from pydantic import AnyUrl'] : []), ...lines].join('\n')}
        async with ClientSession(read, write) as session:
            await session.initialize()
            result = await session.${pythonCall(call)}
            print(result.model_dump_json(indent=2))

asyncio.run(main())
`
}

function pythonCall({ method, name, args }: Call): string {
  const given = args === '{}' ? '{}' : `json.loads(${python(args)})`
  switch (method) {
    case 'tools/call':
      return `call_tool(${python(name)}, ${given})`
    case 'prompts/get':
      return `get_prompt(${python(name)}, ${given})`
    case 'resources/read':
      return `read_resource(AnyUrl(${python(name)}))`
  }
}

/** A JSON string is a valid Python string too. */
function python(text: string): string {
  return JSON.stringify(text)
}

/** Longer texts are unreadable as conditions. */
const longestCondition = 200

/** A name as rules allow it: up to 60 characters, without commas and control characters. */
function ruleNameOf(name: string): string {
  const words = `answer ${name}`.replaceAll(/[\s,\p{Cc}\p{Cf}]+/gu, ' ')
  return words
    .slice(0, 60)
    .replace(/[\ud800-\udbff]$/, '')
    .trim()
}

/** A rules file that answers the same request with the recorded response: of a call, with the same arguments. */
export function ruleOf({ method, name, args }: Call, answer: string): string {
  const conditions = [`method:${method}`, `${nameKeys[method]}:${quoteValue(name)}`]
  const values = JSON.parse(args) as Record<string, unknown>
  for (const [argument, value] of Object.entries(values)) {
    const isSimple = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    if (!isSimple || !/^[A-Za-z_]\w*$/.test(argument) || String(value).length > longestCondition) continue
    conditions.push(`path:$.params.arguments.${argument}=${quoteValue(String(value))}`)
  }
  const members = objectOf(answer)
  const member = members?.raw('error') === undefined ? 'result' : 'error'
  return escapeJson(`rules:
  - name: ${JSON.stringify(ruleNameOf(name))}
    when: ${JSON.stringify(conditions.join(' '))}
    respond: { ${member}: ${members?.raw(member) ?? '{}'} }
`)
}

/** Commands that write a recording of this exchange alone and serve it; `initialize` is answered too. */
export function mockOf(server: string, request: string, answer: string): string {
  const t = '2026-01-01T00:00:00.000Z'
  const line = (dir: 'in' | 'out', raw: string): string => `{"t":"${t}","dir":"${dir}","raw":${raw}}`
  const lines = [
    JSON.stringify({ v: 1, type: 'meta', startedAt: t, label: server, command: [] }),
    line('in', request),
    line('out', answer),
  ]
  // A message is one line of JSON, so it never equals the word that ends the text.
  return `cat > mock.jsonl <<'WIRETAPE'\n${lines.map((text) => text.replaceAll(/[\r\n]+/g, ' ')).join('\n')}\nWIRETAPE\nwiretape mock mock.jsonl --repeat-last\n`
}
