// @ts-check
/**
 * Records a real conversation: the official MCP client calls the official "everything" server through `wiretape
 * record`. Then checks and prints the new tape. Exit code 0 only if every response was right and the tape has every
 * message.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'

const LABEL = 'everything'
const DEADLINE_MS = 30_000
const root = resolve(import.meta.dirname, '..')
const cli = join(root, 'dist/bin/wiretape.js')
const folder = join(root, '.demo')

/** Messages that the client itself sent and received, to compare with the tape. `dir` has the tape's values. */
const said = /** @type {{ dir: 'in' | 'out', id: unknown, method: unknown }[]} */ ([])
let step = 'the start'
let stderrText = ''

/**
 * @param {unknown} condition
 * @param {string} problem The message when the condition is false.
 * @returns {asserts condition}
 */
function check(condition, problem) {
  if (!condition) throw new Error(problem)
}

/**
 * Runs one step and prints one line about it.
 *
 * @param {string} name
 * @param {() => Promise<string>} run Returns the line about the outcome.
 */
async function take(name, run) {
  step = name
  const start = performance.now()
  const outcome = await run()
  const took = `${Math.round(performance.now() - start)} ms`
  console.log(`  ✓ ${name.padEnd(30)} ${outcome.padEnd(58)} ${took.padStart(8)}`)
}

/**
 * Wraps the transport: adds each message to `said`.
 *
 * @param {StdioClientTransport} inner
 * @returns {import('@modelcontextprotocol/sdk/shared/transport.js').Transport}
 */
function noted(inner) {
  const note = (/** @type {'in' | 'out'} */ dir, /** @type {any} */ { id, method }) =>
    said.push({ dir, id, method })
  /** @type {import('@modelcontextprotocol/sdk/shared/transport.js').Transport} */
  const outer = {
    start: () => inner.start(),
    close: () => inner.close(),
    send: (message) => {
      note('in', message)
      return inner.send(message)
    },
  }
  inner.onmessage = (message) => {
    note('out', message)
    outer.onmessage?.(message)
  }
  inner.onclose = () => outer.onclose?.()
  inner.onerror = (error) => outer.onerror?.(error)
  return outer
}

/** @param {any} result The result of a tool call. @returns {string} */
const textOf = (result) => result.content.map((/** @type {any} */ part) => part.text ?? '').join('\n')

/** @param {Client} client */
function answerTheServer(client) {
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'demo-model',
    role: 'assistant',
    content: { type: 'text', text: 'A tape remembers.' },
  }))
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { name: 'Ada', check: true },
  }))
  client.setRequestHandler(ListRootsRequestSchema, () => ({
    roots: [{ uri: pathToFileURL(folder).href, name: 'demo' }],
  }))
}

/** @param {Client} client @param {StdioClientTransport} transport */
async function converse(client, transport) {
  const call = (/** @type {string} */ name, /** @type {Record<string, unknown>} */ args = {}) =>
    client.callTool({ name, arguments: args })

  await take('initialize', async () => {
    await client.connect(noted(transport))
    const server = client.getServerVersion()
    check(server?.name === 'mcp-servers/everything', `the server calls itself ${server?.name}`)
    return `${server.name} ${server.version}`
  })
  await take('tools/list', async () => {
    const { tools } = await client.listTools()
    for (const name of ['echo', 'get-sum', 'trigger-sampling-request', 'trigger-elicitation-request']) {
      check(
        tools.some((tool) => tool.name === name),
        `the server does not offer ${name}`,
      )
    }
    return `${tools.length} tools`
  })
  await take('tools/call echo', async () => {
    const text = textOf(await call('echo', { message: 'Hello, tape! ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ 🎞' }))
    check(text === 'Echo: Hello, tape! ∀x∈ℝ: ⌈x⌉ = −⌊−x⌋ 🎞', `the server echoed ${JSON.stringify(text)}`)
    return text
  })
  await take('tools/call get-sum', async () => {
    const text = textOf(await call('get-sum', { a: 19, b: 23 }))
    check(text === 'The sum of 19 and 23 is 42.', `the server answered ${JSON.stringify(text)}`)
    return text
  })
  await take('tools/call, with progress', async () => {
    let steps = 0
    const request = { name: 'trigger-long-running-operation', arguments: { duration: 1, steps: 4 } }
    const text = textOf(await client.callTool(request, undefined, { onprogress: () => void steps++ }))
    check(text.startsWith('Long running operation completed'), `the server answered ${JSON.stringify(text)}`)
    // The client drops a progress notification that arrives together with the response, so count the transport's
    // messages.
    const passed = said.filter((message) => message.method === 'notifications/progress').length
    check(passed === 4 && steps > 0, `${passed} progress reports came instead of 4`)
    return `${passed} progress reports, then the answer`
  })
  await take('prompts/get args-prompt', async () => {
    const prompt = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Reykjavík' } })
    const content = prompt.messages[0]?.content
    const text = content?.type === 'text' ? content.text : ''
    check(text === "What's weather in Reykjavík?", `the prompt is ${JSON.stringify(text)}`)
    return text
  })
  await take('resources/read', async () => {
    const { contents } = await client.readResource({ uri: 'demo://resource/dynamic/text/7' })
    const text = contents[0] && 'text' in contents[0] ? contents[0].text : ''
    check(text.startsWith('Resource 7: '), `the resource reads ${JSON.stringify(text)}`)
    return contents[0]?.uri ?? ''
  })
  await take('sampling/createMessage', async () => {
    const text = textOf(await call('trigger-sampling-request', { prompt: 'What does a tape do?' }))
    check(text.includes('A tape remembers.'), `the server got ${JSON.stringify(text)}`)
    return 'the server asked our model: A tape remembers.'
  })
  await take('elicitation/create', async () => {
    const text = textOf(await call('trigger-elicitation-request'))
    check(text.includes('- Name: Ada'), `the server got ${JSON.stringify(text)}`)
    return 'the server asked the user: name = Ada'
  })
  await take('roots/list', async () => {
    const text = textOf(await call('get-roots-list'))
    check(text.includes(pathToFileURL(folder).href), `the server got ${JSON.stringify(text)}`)
    return 'the server asked for our folders: 1 root'
  })
  await take('a tool that is not there', async () => {
    // Servers differ: some respond with a JSON-RPC error, some with a result that has `isError`.
    const answer = await call('no-such-tool').then(
      (result) => result.isError === true && textOf(result),
      (error) => String(error.message),
    )
    check(answer && answer.includes('no-such-tool'), 'the server accepted it')
    return answer
  })
  await take('a resource that is not there', async () => {
    const error = await client.readResource({ uri: 'demo://nothing' }).catch((problem) => problem)
    check(error instanceof Error && 'code' in error, 'the server accepted it')
    return `refused with ${String(error.code)}`
  })
}

/** @param {string} tape Its path. @returns {number} How many messages are on it. */
function checkTape(tape) {
  const text = readFileSync(tape, 'utf8')
  check(text.endsWith('\n'), `${tape} ends in the middle of a line`)
  const lines = text.slice(0, -1).split('\n')
  const records = lines.map((line) => JSON.parse(line))
  check(records[0]?.type === 'meta' && records[0].v === 1, `${tape} does not begin with a meta line`)
  const end = records.at(-1)
  check(end?.type === 'end', `${tape} has no end line: it was cut off`)
  check(end.exitCode === 0, `the server ended with exit code ${end.exitCode}`)
  check(!records.some((record) => record.type === 'gap'), `${tape} has gaps`)
  const messages = records.filter((record) => record.type === undefined)
  check(
    end.wiretape?.messages === messages.length,
    `${tape} counts ${end.wiretape?.messages} messages wrongly`,
  )
  for (const dir of ['in', 'out']) {
    const onTape = messages.filter((message) => message.dir === dir).map(({ raw }) => [raw.id, raw.method])
    const passed = said.filter((message) => message.dir === dir).map(({ id, method }) => [id, method])
    check(JSON.stringify(onTape) === JSON.stringify(passed), `${tape} does not hold what went ${dir}`)
  }
  check(text.includes('⌈x⌉ = −⌊−x⌋ 🎞'), `${tape} does not hold the text that was echoed`)
  return messages.length
}

/** @param {string} tape Its path. */
function showNext(tape) {
  const shown = relative(process.cwd(), tape)
  const command = `node ${relative(process.cwd(), cli)}`
  const args = [cli, 'record', '--', 'node', 'your-server.js'].map((arg) => JSON.stringify(arg)).join(', ')
  console.log(`
The tape: ${shown}

Look closer      ${command} inspect -v ${shown}
All tapes        ${command} ls ${relative(process.cwd(), folder)}
Record yours     ${command} record -- node your-server.js
…or let your MCP client start it, in its configuration:

{
  "mcpServers": {
    "your-server": { "command": "node", "args": [${args}] }
  }
}`)
}

async function main() {
  check(existsSync(cli), `${relative(process.cwd(), cli)} is not there: run npm run build first`)
  const packageFile = createRequire(import.meta.url).resolve(
    '@modelcontextprotocol/server-everything/package.json',
  )
  const server = join(
    dirname(packageFile),
    JSON.parse(readFileSync(packageFile, 'utf8')).bin['mcp-server-everything'],
  )
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const before = new Set(readdirSync(folder))

  console.log(
    'The official MCP client talks to the official "everything" server; wiretape sits in between.\n',
  )
  const recorder = [cli, 'record', '--out', folder, '--label', LABEL, '--', process.execPath]
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...recorder, relative(root, server), 'stdio'],
    cwd: root,
    stderr: 'pipe',
  })
  transport.stderr?.on('data', (chunk) => (stderrText += String(chunk)))
  const client = new Client(
    { name: 'wiretape-demo', version: '1.0.0' },
    { capabilities: { sampling: {}, elicitation: {}, roots: {} } },
  )
  answerTheServer(client)
  try {
    await converse(client, transport)
  } finally {
    await client.close()
  }

  step = 'reading the tape'
  const tapes = readdirSync(folder).filter((name) => name.endsWith('.jsonl') && !before.has(name))
  check(tapes.length === 1, `${relative(process.cwd(), folder)} has ${tapes.length} new tapes instead of one`)
  const tape = join(folder, ...tapes)
  const count = checkTape(tape)
  console.log(`\nAll ${count} messages are on the tape, in order. This is wiretape inspect:\n`)

  step = 'wiretape inspect'
  const inspect = spawnSync(process.execPath, [cli, 'inspect', tape], { stdio: 'inherit' })
  check(inspect.status === 0, `it ended with ${inspect.signal ?? `exit code ${inspect.status}`}`)
  showNext(tape)
}

/** @param {unknown} problem */
function fail(problem) {
  console.error(`The demo failed at ${step}: ${problem instanceof Error ? problem.message : String(problem)}`)
  if (stderrText.trim() !== '') console.error(stderrText.trimEnd().replace(/^/gm, '  stderr: '))
  process.exitCode = 1
}

const deadline = setTimeout(() => {
  fail(new Error(`nothing more happened within ${DEADLINE_MS / 1000} s`))
  process.exit()
}, DEADLINE_MS)
await main().catch(fail)
clearTimeout(deadline)
