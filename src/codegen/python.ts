import { aboutLine, type About } from './about.js'
import { messagePattern, type Expected } from './expected.js'
import { textPattern } from './javascript.js'
import { printArgument, printExpected, type Dialect } from './print.js'
import type { Step, TestPlan, Variable } from './plan.js'

const types: Readonly<Record<string, string>> = {
  string: 'str',
  number: '(int, float)',
  boolean: 'bool',
  array: 'list',
  object: 'dict',
}

const python: Dialect = {
  none: 'None',
  yes: 'True',
  no: 'False',
  text: (text) => JSON.stringify(text),
  brace: '',
  entry: (name, value) => `${JSON.stringify(name)}: ${value}`,
  variable: (name) => `made["${name}"]`,
  secret: (name) => `os.environ["${name}"]`,
  member: (of, step) => `${of}[${typeof step === 'number' ? step : JSON.stringify(step)}]`,
  check(actual, expected) {
    if (expected.kind === 'pattern') return `assert re.search(${raw(expected.source)}, ${actual})`
    return expected.type === 'null'
      ? `assert ${actual} is None`
      : `assert isinstance(${actual}, ${types[expected.type]})`
  },
}

/** A pattern as a raw string; Python's `$` also matches before a final line feed. */
function raw(source: string): string {
  const pattern = source.replace(/(?<!\\)\$$/, String.raw`\Z`).replaceAll(String.raw`\/`, '/')
  return pattern.includes('"') ? `r'''${pattern.replaceAll("'", String.raw`\x27`)}'''` : `r"${pattern}"`
}

/** A test file for pytest. @param client the official `mcp` package, or only the standard library */
export function pythonTests(plan: TestPlan, about: About, client: 'mcp' | 'plain'): string {
  const { target } = about
  const usesRegex = plan.steps.some((step) => bodyLines(step).some((line) => line.includes('re.')))
  const usesJson = plan.steps.some((step) => bodyLines(step).some((line) => line.includes('json.')))
  const modules = [
    ...(usesJson || client === 'plain' ? ['json'] : []),
    ...(plan.secrets.length > 0 || (client === 'mcp' && 'command' in target) ? ['os'] : []),
    ...(usesRegex ? ['re'] : []),
    ...(client === 'plain' ? ['subprocess'] : []),
  ]
  const command = 'command' in target ? target.command : []
  const lines = [
    `# ${aboutLine(about)}`,
    ...(plan.secrets.length > 0
      ? [`# Needs ${plan.secrets.join(', ')} in the environment: the recording does not have these secrets.`]
      : []),
    ...plan.left.map((text) => `# Left out: ${text}.`),
    ...modules.map((name) => `import ${name}`),
    ...(client === 'mcp' ? ['from contextlib import asynccontextmanager'] : []),
    '',
    ...(client === 'mcp'
      ? [
          'from anyio.from_thread import start_blocking_portal',
          'url' in target ? 'from mcp import Client' : 'from mcp import Client, StdioServerParameters',
          'import pytest',
        ]
      : ['import pytest']),
    '',
    'url' in target
      ? `URL = ${JSON.stringify(target.url)}`
      : `COMMAND = [${command.map((word) => JSON.stringify(word)).join(', ')}]`,
    ...(plan.variables.length > 0 ? ['made = {}  # values from responses, for later requests'] : []),
    '',
    '',
    '@pytest.fixture(scope="module")',
    'def server():',
    ...(client === 'mcp'
      ? mcpFixture
      : ['    server = Server(COMMAND)', '    yield server', '    server.close()']),
  ]
  const names = new Set<string>()
  for (const step of plan.steps) lines.push('', '', ...testLines(step, names))
  lines.push('', '', ...(client === 'mcp' ? mcpClient(target) : plainClient), '')
  return lines.join('\n')
}

function testLines(step: Step, names: Set<string>): string[] {
  const plain = step.title
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .replaceAll(/\W+/g, '_')
    .replaceAll(/^_+|_+$/g, '')
    .toLowerCase()
  let name = `test_${plain === '' ? 'call' : plain}`
  for (let i = 2; names.has(name); i += 1) name = `test_${plain}_${i}`
  names.add(name)
  return [`def ${name}(server):`, ...bodyLines(step).map((line) => `    ${line}`)]
}

function bodyLines(step: Step): string[] {
  const { outcome } = step
  const params =
    step.params.kind === 'map' && step.params.members.length === 0
      ? ''
      : `, ${printArgument(step.params, python, '    ')}`
  const request = `server.request(${JSON.stringify(step.method)}${params})`
  if (outcome.kind === 'error')
    return [`with pytest.raises(Exception, match=${raw(messagePattern(outcome.message))}):`, `    ${request}`]
  if (outcome.kind === 'names') {
    const { member, nameMember, names } = outcome
    const list = `[${names.map((name) => JSON.stringify(name)).join(', ')}]`
    const shown =
      list.length <= 80
        ? list
        : `[\n${names.map((name) => `        ${JSON.stringify(name)},\n`).join('')}    ]`
    return [`result = ${request}`, `assert [one["${nameMember}"] for one in result["${member}"]] == ${shown}`]
  }
  const statements: string[] = []
  const assert = (actual: string, expected: Expected): void => {
    const single = textPattern(expected)
    if (single) return void statements.push(python.check('result["content"][0]["text"]', single))
    const checks: string[] = []
    const text = printExpected(expected, actual, python, checks, '    ')
    const sign = /^(?:True|False|None)$/.test(text) ? 'is' : '=='
    statements.push(...checks, `assert ${actual} ${sign} ${text}`)
  }
  if (outcome.json) {
    statements.push('answer = json.loads(result["content"][0]["text"])')
    assert('answer', outcome.json)
  }
  if (outcome.expected.kind === 'map')
    for (const [name, item] of outcome.expected.members) assert(python.member('result', name), item)
  return [`result = ${request}`, ...statements, ...step.variables.map(assignment)]
}

function assignment({ name, path, within, pattern }: Variable): string {
  const root = within === 'json' ? 'answer' : 'result'
  const place = path.reduce<string>((of, step) => python.member(of, step), root)
  return pattern === undefined
    ? `made["${name}"] = ${place}`
    : `made["${name}"] = re.search(${raw(pattern)}, ${place})[1]`
}

const plainClient = `class Server:
    """An MCP server on stdio, spoken to with the standard library."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        self.last_id = 0
        client = {"name": "test", "version": "1.0.0"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
        self.send({"method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\\n")
        self.process.stdin.flush()

    def request(self, method, params=None):
        self.last_id += 1
        self.send({"id": self.last_id, "method": method, "params": params or {}})
        for line in self.process.stdout:
            if not line.lstrip().startswith("{"):
                continue  # some servers print more than messages
            message = json.loads(line)
            if "method" in message and "id" in message:
                self.send({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
            elif "method" not in message and message.get("id") == self.last_id:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]
        raise RuntimeError("the server ended without a response")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)`.split('\n')

const mcpFixture = [
  '    with start_blocking_portal() as portal, portal.wrap_async_context_manager(connected()) as client:',
  '        yield Server(portal, client)',
]

const mcpClient = (target: About['target']): string[] => [
  '@asynccontextmanager',
  'async def connected():',
  'url' in target
    ? '    async with Client(URL) as client:'
    : '    parameters = StdioServerParameters(command=COMMAND[0], args=COMMAND[1:], env=dict(os.environ))',
  ...('url' in target ? [] : ['    async with Client(parameters) as client:']),
  '        yield client',
  '',
  '',
  ...mcpServer,
]

const mcpServer = `class Server:
    """The official client, called without await."""

    def __init__(self, portal, client):
        self.portal = portal
        self.client = client

    def request(self, method, params=None):
        params = params or {}
        calls = {
            "tools/list": lambda: self.client.list_tools(),
            "prompts/list": lambda: self.client.list_prompts(),
            "resources/list": lambda: self.client.list_resources(),
            "resources/templates/list": lambda: self.client.list_resource_templates(),
            "tools/call": lambda: self.client.call_tool(params["name"], params.get("arguments", {})),
            "prompts/get": lambda: self.client.get_prompt(params["name"], params.get("arguments")),
            "resources/read": lambda: self.client.read_resource(params["uri"]),
        }
        result = self.portal.call(calls[method])
        return result.model_dump(mode="json", by_alias=True, exclude_unset=True)`.split('\n')
