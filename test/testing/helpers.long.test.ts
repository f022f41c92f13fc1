/** The helpers for vitest and pytest as their users run them: runners of their own, in a folder of their own. */
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { leftOut, plainEnv, run, type Run } from '../behaviour/run-cli.js'
import { cli, server } from '../behaviour/stage.js'

const project = resolve(import.meta.dirname, '../..')
const [, varying] = server('varying-mcp.mjs') as [string, string]
const folder = mkdtempSync(join(tmpdir(), 'wiretape-helpers-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
beforeEach(() => {
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true })
})

const cassette = join(folder, '__cassettes__/shop.jsonl')
const kept = (): string[] => {
  const results = join(folder, 'test-results')
  if (!existsSync(results)) return []
  return readdirSync(results, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name))
}
/** How often the server itself was started. */
const starts = (): number => {
  const log = join(folder, 'starts')
  return existsSync(log) ? readFileSync(log, 'utf8').length : 0
}
const environment = (more: NodeJS.ProcessEnv): NodeJS.ProcessEnv => {
  const { CI: _ci, VITEST: _vitest, WIRETAPE_MODE: _mode, ...env } = plainEnv()
  return { ...env, XDG_DATA_HOME: folder, ...more }
}

/** A server that tells when it was started. */
const shop = `import { appendFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(join(folder, 'starts'))}, '.')
process.argv[2] = process.env.PRICE ?? '4.5'
await import(${JSON.stringify(varying)})
`

interface Runner {
  readonly name: string
  /** Writes a test that asks for the price, and for `also`, and expects that it is 4.5. */
  write(how: 'server' | 'cassette', also?: string): void
  run(env?: NodeJS.ProcessEnv): Promise<Run>
}

const vitest: Runner = {
  name: 'vitest',
  write(how, also = 'price') {
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    for (const name of ['vitest', '@modelcontextprotocol'])
      symlinkSync(join(project, 'node_modules', name), join(folder, 'node_modules', name))
    symlinkSync(project, join(folder, 'node_modules/wiretape'))
    writeFileSync(
      join(folder, 'price.test.mjs'),
      `import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { expect } from 'vitest'
import { test } from 'wiretape/vitest'

test('the price', async ({ wiretape }) => {
  const command = ['node', 'shop.mjs']
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(new StdioClientTransport({
    ...wiretape.${how === 'server' ? 'server(command)' : "cassette('shop', command)"},
    env: { ...process.env },
  }))
  await client.callTool({ name: ${JSON.stringify(also)}, arguments: {} })
  const { content } = await client.callTool({ name: 'price', arguments: {} })
  await client.close()
  expect(JSON.parse(content[0].text).price).toBe(4.5)
})
`,
    )
  },
  run: (env = {}) =>
    run([process.execPath, join(project, 'node_modules/vitest/vitest.mjs'), 'run'], {
      cwd: folder,
      env: environment(env),
    }),
}

const pytest: Runner = {
  name: 'pytest',
  write(how, also = 'price') {
    writeFileSync(join(folder, 'conftest.py'), 'pytest_plugins = ["wiretape_pytest"]\n')
    writeFileSync(
      join(folder, 'test_price.py'),
      `import json
import subprocess


def test_the_price(wiretape):
    command = ["node", "shop.mjs"]
    server = subprocess.Popen(wiretape.${how === 'server' ? 'server(command)' : 'cassette("shop", command)'}, stdin=-1, stdout=-1, text=True)

    def ask(id, method, params):
        server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\\n")
        server.stdin.flush()
        return json.loads(server.stdout.readline())

    client = {"name": "test", "version": "1"}
    ask(0, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client})
    ask(1, "tools/call", {"name": ${JSON.stringify(also)}, "arguments": {}})
    answer = ask(2, "tools/call", {"name": "price", "arguments": {}})
    server.stdin.close()
    server.wait()
    assert json.loads(answer["result"]["content"][0]["text"])["price"] == 4.5
`,
    )
  },
  run: (env = {}) =>
    run(['python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider'], {
      cwd: folder,
      env: environment({
        PYTHONPATH: join(project, 'helpers'),
        PYTHONDONTWRITEBYTECODE: '1',
        WIRETAPE: `${process.execPath} ${cli}`,
        ...env,
      }),
    }),
}

const hasPytest = ((): boolean => {
  try {
    execFileSync('python3', ['-c', 'import pytest'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

for (const runner of [vitest, pytest])
  describe.skipIf(runner === pytest && leftOut(hasPytest, 'helpers for pytest: python3 has no pytest'))(
    `the helper for ${runner.name}`,
    () => {
      const passes = async (env?: NodeJS.ProcessEnv): Promise<void> => {
        const result = await runner.run(env)
        expect({ ...result }).toMatchObject({ code: 0 })
      }
      const fails = async (env?: NodeJS.ProcessEnv): Promise<string> => {
        const result = await runner.run(env)
        expect({ ...result }).toMatchObject({ code: 1 })
        return result.stdout + result.stderr
      }
      beforeEach(() => writeFileSync(join(folder, 'shop.mjs'), shop))

      it('keeps the tape and a report of a test only when it fails', async () => {
        runner.write('server')
        await passes()
        expect(kept()).toEqual([])
        const said = await fails({ PRICE: '5' })
        expect(kept().map((name) => name.replace(/.*\./, ''))).toEqual(
          expect.arrayContaining(['html', 'jsonl']),
        )
        const tape = kept().find((name) => name.endsWith('.jsonl'))!
        expect(said).toContain(join(folder, 'test-results', tape))
        const shown = await run([process.execPath, cli, 'inspect', join(folder, 'test-results', tape)])
        expect(shown.stdout).toContain('tools/call price')
        await passes()
        expect(kept()).toEqual([])
      })

      it('once: records a cassette, and plays it from then on', async () => {
        runner.write('cassette')
        await fails({ PRICE: '5' })
        expect(existsSync(cassette), 'a test that failed makes no cassette').toBe(false)
        await passes()
        expect(existsSync(cassette)).toBe(true)
        const before = starts()
        await passes({ PRICE: '5' })
        expect(starts()).toBe(before)
        expect(kept()).toEqual([])
      })

      it('new: asks the server only what the cassette does not have', async () => {
        runner.write('cassette')
        await passes()
        const first = readFileSync(cassette, 'utf8')
        rmSync(join(folder, 'node_modules'), { recursive: true, force: true })
        runner.write('cassette', 'fail')
        await passes({ WIRETAPE_MODE: 'new', PRICE: '5' })
        expect(readFileSync(cassette, 'utf8')).not.toBe(first)
        const before = starts()
        await passes({ WIRETAPE_MODE: 'none' })
        expect(starts()).toBe(before)
      })

      it('all: replaces the cassette', async () => {
        runner.write('cassette')
        await passes()
        const before = starts()
        const first = readFileSync(cassette, 'utf8')
        await passes({ WIRETAPE_MODE: 'all' })
        expect(starts()).toBe(before + 1)
        expect(readFileSync(cassette, 'utf8')).not.toBe(first)
      })

      it('none: refuses what has no cassette', async () => {
        runner.write('cassette')
        expect(await fails({ WIRETAPE_MODE: 'none' })).toContain(
          'does not exist, and mode none does not record',
        )
        expect(starts()).toBe(0)
      })

      it('records no cassette in CI', async () => {
        runner.write('cassette')
        for (const mode of ['once', 'new', 'all'])
          expect(await fails({ CI: 'true', WIRETAPE_MODE: mode })).toMatch(
            /(?:does not exist|would be recorded)/,
          )
        expect(starts()).toBe(0)
      })
    },
  )
