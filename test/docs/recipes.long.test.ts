/** The commands of docs/recipes do what the pages say, in the order in which they stand there. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leftOut, plainEnv, run, type Run } from '../behaviour/run-cli.js'
import { cli, server } from '../behaviour/stage.js'

const project = resolve(import.meta.dirname, '../..')
const modules = (name: string): boolean => {
  try {
    execFileSync('python3', ['-c', `import ${name}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
const hasPytest = modules('pytest')
const hasMcp = hasPytest && modules('mcp.client.client')

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-recipes-'))
  for (const name of ['bin', 'tests', 'test', 'build', 'node_modules']) mkdirSync(join(folder, name))
  write('bin/wiretape', `#!/bin/sh\nexec '${process.execPath}' '${cli}' "$@"\n`)
  write('bin/npx', '#!/bin/sh\nexec "$@"\n')
  write(
    'bin/vitest',
    `#!/bin/sh\nexec '${process.execPath}' '${project}/node_modules/vitest/vitest.mjs' "$@"\n`,
  )
  for (const name of ['wiretape', 'npx', 'vitest']) chmodSync(join(folder, 'bin', name), 0o755)
  write('server.js', `import(${JSON.stringify(server('varying-mcp.mjs')[1])})\n`)
  write('server.py', pythonServer)
  for (const name of ['vitest', '@modelcontextprotocol'])
    symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const session = [
  {
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 1, method: 'tools/list' },
  { id: 2, method: 'tools/call', params: { name: 'price', arguments: {} } },
]
  .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  .join('')

function sh(command: string): Promise<Run> {
  const { CI: _ci, VITEST: _vitest, ...env } = plainEnv()
  return run(['sh', '-c', command], {
    cwd: folder,
    env: {
      ...env,
      PATH: `${join(folder, 'bin')}:${env['PATH']}`,
      XDG_DATA_HOME: join(folder, 'data'),
      PYTHONDONTWRITEBYTECODE: '1',
    },
    // What the client of a recorder says.
    input: /record/.test(command) ? session : '',
  })
}

/** Indented lines of a page that are commands. */
function commandsOf(page: string): string[] {
  const text = readFileSync(join(project, 'docs/recipes', page), 'utf8')
  return [...text.matchAll(/^ {4}((?:npx |wiretape |python3 ).*)$/gm)].map((match) =>
    match[1]!.replace(/\s+#.*/, ''),
  )
}

async function follow(page: string): Promise<void> {
  const commands = commandsOf(page)
  expect(commands.length).toBeGreaterThan(1)
  for (const command of commands) {
    const { code, stdout, stderr } = await sh(command)
    expect({ code }, `${command}\n${stdout}${stderr}`).toEqual({ code: 0 })
  }
}

describe('the recipe for', () => {
  it('vitest', async () => {
    await follow('vitest.md')
    expect(existsSync(join(folder, 'test/shop.test.ts'))).toBe(true)
  })

  it.skipIf(leftOut(hasMcp, 'the recipe for pytest: python3 has no pytest, or no mcp of version 2'))(
    'pytest',
    async () => follow('pytest.md'),
  )

  it.each(['slow-tool', 'wrong-answer', 'drift', 'faults', 'offline-mock', 'sharing', 'clean-up'])(
    '%s',
    async (name) => {
      const text = readFileSync(join(project, 'docs/recipes', `${name}.md`), 'utf8')
      const [, rules] = /^```yaml\n([^]*?)^```$/m.exec(text) ?? []
      if (rules !== undefined) write(`${name}.yaml`, rules)
      await follow(`${name}.md`)
    },
  )

  it('CI', async () => {
    mkdirSync(join(folder, 'tests/calls'))
    write(
      'tests/calls/price.yaml',
      `server: { command: ['${process.execPath}', '${join(folder, 'server.js')}'] }\ncalls:\n  - name: a price\n    request: { tool: price, arguments: {} }\n`,
    )
    await follow('ci.md')
    expect(existsSync(join(folder, 'build/calls.xml'))).toBe(true)
    expect(existsSync(join(folder, 'build/replay.xml'))).toBe(true)
    expect(existsSync(join(folder, 'build/findings.sarif'))).toBe(true)
    const workflow = /- run: (npx wiretape .*)/.exec(
      readFileSync(join(project, 'docs/recipes/ci.md'), 'utf8'),
    )![1]!
    expect(await sh(workflow)).toMatchObject({ code: 0 })
    write('server.js', `process.argv[2] = '5'\nimport(${JSON.stringify(server('varying-mcp.mjs')[1])})\n`)
    expect(await sh(workflow)).toMatchObject({ code: 1, stdout: expect.stringContaining('::error') })
  })
})

const pythonServer = `import json
import sys

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {"content": [{"type": "text", "text": "4.5"}]}
    if message["method"] == "initialize":
        info = {"name": "shop", "version": "1.0.0"}
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "price", "inputSchema": {"type": "object"}}]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
`
