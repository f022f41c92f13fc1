// @ts-check
/** Popular clients with servers, directly and through the recorder: the outcomes must be the same. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { start } from './actors.mjs'
import { startEverything } from './everything.mjs'
import { withServer } from './fixture.mjs'
import { startRecorder } from './recorder.mjs'
import { useMcpRemote } from './mcp-remote.mjs'

/** @typedef {import('./tools.mjs').Tools} Tools */

/**
 * @typedef {object} Case
 * @property {string} name
 * @property {(run: (url: string) => Promise<unknown>) => Promise<unknown>} serve
 * @property {(tools: Tools, url: string, home: string) => Promise<unknown[]>} use
 * @property {string} needs A text that the tape must contain.
 */

/** @type {readonly Case[]} */
const cases = [
  {
    name: 'the Inspector, 2025-11-25',
    serve: withServer,
    use: (tools, url, home) => useInspector(tools, ['--server-url', url], ofTheFixture, home),
    needs: '"method":"initialize"',
  },
  {
    name: 'the Inspector, 2026-07-28',
    serve: withServer,
    use: (tools, url, home) =>
      useInspector(tools, ['--server-url', url, '--protocol-era', 'modern'], ofTheFixture, home),
    needs: '"method":"server/discover"',
  },
  {
    name: 'the Inspector, HTTP+SSE',
    serve: withEverything,
    use: (tools, url, home) =>
      useInspector(tools, ['--server-url', url, '--transport', 'sse'], ofEverything, home),
    needs: '"event":"message"',
  },
  {
    name: 'mcp-remote, Streamable HTTP',
    serve: withServer,
    use: (tools, url, home) => useMcpRemote(tools, url, 'http-only', 'test_tool_with_progress', home),
    needs: '"method":"notifications/progress"',
  },
  {
    name: 'mcp-remote, HTTP+SSE',
    serve: withEverything,
    use: (tools, url, home) => useMcpRemote(tools, url, 'sse-only', 'trigger-long-running-operation', home),
    needs: '"method":"notifications/progress"',
  },
]

/** Command lines of the Inspector. @type {readonly (readonly string[])[]} */
const ofTheFixture = [
  ['--method', 'tools/list'],
  ['--method', 'tools/call', '--tool-name', 'test_multiple_content_types'],
  ['--method', 'tools/call', '--tool-name', 'test_error_handling'],
  ['--method', 'resources/list'],
  ['--method', 'resources/read', '--uri', 'test://static-binary'],
  ['--method', 'resources/read', '--uri', 'test://nowhere'],
  [
    '--method',
    'prompts/get',
    '--prompt-name',
    'test_prompt_with_arguments',
    '--prompt-args',
    'arg1=a',
    'arg2=ö',
  ],
]
/** @type {readonly (readonly string[])[]} */
const ofEverything = [
  ['--method', 'tools/list'],
  ['--method', 'tools/call', '--tool-name', 'echo', '--tool-arg', 'message=ÅÄÖ 🎞'],
  ['--method', 'prompts/list'],
]

/**
 * @param {Tools} tools
 * @param {string} folder
 * @returns {Promise<string[]>} The faults.
 */
export async function testClients(tools, folder) {
  /** @type {string[]} */
  const wrong = []
  console.log('\nclients of others')
  for (const [n, { name, serve, use, needs }] of cases.entries()) {
    const place = join(folder, `client-${n}`)
    const home = join(place, 'home')
    mkdirSync(home, { recursive: true })
    await serve(async (upstream) => {
      const direct = await use(tools, upstream, home)
      const recorder = await startRecorder(tools.cli, upstream, join(place, 'tape'))
      const through = await use(tools, recorder.url, home)
      const { messages, text, problems } = await recorder.stop()
      if (!text.includes(needs)) problems.push(`the tape has nothing with ${needs}`)
      if (!isDeepStrictEqual(through, direct)) {
        problems.push(`it got ${JSON.stringify(through)} instead of ${JSON.stringify(direct)}`)
      }
      const outcome = problems.length === 0 ? 'no difference' : 'different'
      console.log(`  ${name}: ${direct.length} steps, ${outcome}; ${messages} messages on the tape`)
      wrong.push(...problems.map((problem) => `${name}: ${problem}`))
    })
  }
  return wrong
}

/** @param {(url: string) => Promise<unknown>} run */
async function withEverything(run) {
  const { server, url } = await startEverything('sse')
  try {
    await run(url)
  } finally {
    server.child.kill('SIGKILL')
    await server.ended
  }
}

/**
 * Output and exit status of each command line.
 *
 * @param {Tools} tools
 * @param {readonly string[]} options
 * @param {readonly (readonly string[])[]} lines
 * @param {string} home
 */
async function useInspector({ node, packageFile }, options, lines, home) {
  const inspector = packageFile('@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  const outcomes = []
  for (const line of lines) {
    const args = [inspector, '--cli', ...options, '--quiet', ...line]
    const { code, out, err } = await start(node, args, { env: { ...process.env, HOME: home } }).ended
    outcomes.push({ line: line.join(' '), code, out, err: err.replaceAll(/127\.0\.0\.1:\d+/g, '…') })
  }
  return outcomes
}
