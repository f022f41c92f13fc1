/** Tasks of the extension of 2026-07-28: recorded, replayed, mocked and compared. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { mock, record, replay, type ReplayResult } from '../../src/index.js'
import { wiretape } from '../behaviour/run-cli.js'
import { cli, server } from '../behaviour/stage.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-modern-tasks-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

interface Answer {
  readonly result: { readonly taskId: string; readonly status?: string; readonly result?: unknown }
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
}
const build = (polls: number, ...change: string[]): string[] =>
  server('modern-task-mcp.mjs', String(polls), ...change)

/**
 * A client that calls `build` for each thing and polls each task until it is done. @returns the messages about each
 * task
 */
async function use(argv: readonly string[], things: readonly string[]): Promise<unknown[]> {
  const child = spawn(argv[0]!, argv.slice(1), { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  let id = 0
  const ask = async (method: string, params: object): Promise<Answer> => {
    id += 1
    child.stdin.write(
      `${JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } })}\n`,
    )
    return JSON.parse((await lines.next()).value) as Answer
  }
  const told: unknown[] = []
  for (const what of things) {
    const { taskId } = (await ask('tools/call', { name: 'build', arguments: { what } })).result
    for (;;) {
      const { result } = await ask('tasks/get', { taskId })
      if (result.status === 'input_required') {
        // A client whose user takes his time polls on.
        await ask('tasks/get', { taskId })
        const inputResponses = { colour: { action: 'accept', content: { colour: 'blue' } } }
        await ask('tasks/update', { taskId, inputResponses })
      } else if (result.status !== 'working') {
        told.push(result.result)
        break
      }
    }
  }
  child.stdin.end()
  await new Promise((done) => child.once('close', done))
  return told
}

async function recorded(
  name: string,
  command: readonly string[],
  things: readonly string[],
): Promise<string> {
  const recorder = await record({ command, file: join(folder, name) })
  const { server: through } = recorder
  await use([through.command, ...through.args], things)
  return recorder.close()
}

describe('a task of the extension', () => {
  const things = ['house', 'boat']
  let tape = ''
  let patient = ''
  let paint = ''
  let failing = ''
  beforeAll(async () => {
    tape = await recorded('tape.jsonl', build(1), things)
    patient = await recorded('patient.jsonl', build(5), things.toReversed())
    paint = await recorded('paint.jsonl', build(3, 'paint'), ['boat'])
    failing = await recorded('fail.jsonl', build(0, 'fail'), things)
  })

  const idsIn = ({ messages }: ReplayResult, member: 'original' | 'sent'): Set<unknown> =>
    new Set(
      messages
        .filter(({ message }) => message.method?.startsWith('tasks/'))
        .map((outcome) => JSON.parse(outcome[member]!).params.taskId),
    )

  it.each([[0], [1], [4]])('is replayed by its new id, also where it works for %i polls', async (polls) => {
    const result = await replay(tape, { command: build(polls) })
    expect(result.differences).toEqual([])
    const [then, now] = [idsIn(result, 'original'), idsIn(result, 'sent')]
    expect([then.size, now.size]).toEqual([2, 2])
    expect([...then].filter((id) => now.has(id))).toEqual([])
  })

  it.each<[string, RegExp]>([
    ['paint', /^changed: tasks\/get.*\n.*\n? *.*painted/s],
    ['fail', /^changed: tasks\/get.*"failed"/s],
  ])('that comes to another end is told once for each task: %s', async (change, what) => {
    const { differences } = await replay(tape, { command: build(2, change) })
    expect(differences).toHaveLength(2)
    expect(differences[0]).toMatch(what)
  })

  it('cannot be told from that of a mock, however often it is polled', async () => {
    const mocked = [process.execPath, cli, 'mock', tape, '--quiet']
    expect((await replay(tape, { command: mocked })).differences).toEqual([])
    const served = await mock(tape)
    expect((await replay(tape, { url: served.url })).differences).toEqual([])
    await served.close()
    const content = (thing: string): object => ({ content: [{ type: 'text', text: `A blue ${thing}` }] })
    expect(await use(mocked, things)).toEqual(things.map(content))
  })

  it('is the same in two recordings that polled it another number of times, in another order', async () => {
    const { code, stdout } = await wiretape(['diff', tape, patient])
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^Same: /m) })
  })

  it('is another one in two recordings where its end is, or where it was not begun', async () => {
    const painted = await wiretape(['diff', tape, paint])
    expect(painted.code).toBe(1)
    expect(painted.stdout).toContain('1 changed')
    expect(painted.stdout).toContain('"A painted blue boat"')
    const failed = await wiretape(['diff', tape, failing])
    expect(failed.stdout).toMatch(/2 changed\n?/)
    expect(failed.stdout).not.toMatch(/missing|new/)
  })
})
