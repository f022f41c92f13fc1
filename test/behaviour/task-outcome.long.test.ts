/** In every command, a call that created a task has the task's outcome, and a failure counts once. */
import { describe, expect, it } from 'vitest'
import { answerTo, endOf } from './mini-talk.js'
import { linesOfTape } from './tape-bytes.js'
import { server, type Actor, useStage } from './stage.js'
import { plainEnv, wiretape } from './run-cli.js'

const stage = useStage()

async function ask(recorder: Actor, id: number, method: string, params: object): Promise<object> {
  await recorder.send(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
  return answerTo(recorder, id)
}

/** Records a call and requests about its task. */
async function recordTask(mode: readonly string[], ...methods: readonly string[]): Promise<void> {
  const recorder = stage.start(stage.record(server('task-mcp.mjs', ...mode)))
  const created = await ask(recorder, 1, 'tools/call', { name: 'research', arguments: {}, task: {} })
  const { taskId } = (created as { result: { task: { taskId: string } } }).result.task
  for (const [i, method] of methods.entries()) await ask(recorder, i + 2, method, { taskId })
  await endOf(stage, recorder)
}

async function run(...args: string[]): Promise<string> {
  return (await wiretape(args, { env: plainEnv(stage.env) })).stdout
}

async function matches(filter: string): Promise<number[]> {
  const json = await run('inspect', '--json', stage.tape(), '--filter', filter)
  return (JSON.parse(json) as { messages: { sequence: number }[] }).messages.map(({ sequence }) => sequence)
}

interface Groups {
  readonly groups: { readonly name: string; readonly errors: number; readonly cancelled: number }[]
}

async function statsOf(...args: string[]): Promise<Groups['groups']> {
  return (JSON.parse(await run('stats', '--json', stage.tape(), ...args)) as Groups).groups
}

/** Errors as the recorder counted them. */
function recordedErrors(): unknown {
  const end = linesOfTape(stage.tape()).at(-1)
  return (end?.['wiretape'] as { errors?: unknown } | undefined)?.errors
}

const polls = ['tasks/get', 'tasks/get', 'tasks/get']

describe('a call whose task fails', () => {
  it('has failed, once', async () => {
    await recordTask(['fail'], ...polls, 'tasks/result')
    const list = await run('inspect', stage.tape())
    expect(list).toMatch(/^ +1 .*result of #0 tools\/call research .*task failed/m)
    expect(list).toMatch(/^11 messages .* · 1 tool error$/m)
    expect(await matches('is:error')).toEqual([1])
    expect(await matches('is:tool-error')).toEqual([1])
    expect(await matches('status:error')).toEqual([0, 1, 9, 10])
    expect(await statsOf()).toMatchObject([{ name: 'research', errors: 1 }])
    const byMethod = await statsOf('--by', 'method')
    expect(byMethod.filter(({ errors }) => errors > 0)).toMatchObject([{ name: 'tools/call', errors: 1 }])

    expect(await run('explain', stage.tape())).toMatch(
      /^#0 {2}tools\/call research: The task of the call failed\. The task failed after .*“The library is closed”\.$/m,
    )
    expect(await run('explain', stage.tape())).toContain('1 of 5 requests failed')
    expect(await run('explain', stage.tape(), '0')).toContain('At fault: not proven')
    expect(recordedErrors()).toBe(1)
  })

  it('has failed, although no client requested the result', async () => {
    await recordTask(['fail'], ...polls)
    expect(await matches('is:error')).toEqual([1])
    expect(recordedErrors()).toBe(1)
  })
})

describe('a call whose task is cancelled', () => {
  it('is cancelled', async () => {
    await recordTask([], 'tasks/get', 'tasks/cancel')
    expect(await run('inspect', stage.tape())).toMatch(/^ +1 .*task cancelled/m)
    expect(await matches('is:error')).toEqual([])
    expect(await matches('status:cancelled')).toEqual([0, 1])
    expect(await matches('is:cancelled')).toEqual([0])
    expect(await statsOf()).toMatchObject([{ name: 'research', errors: 0, cancelled: 1 }])
    expect(await run('explain', stage.tape(), '0')).toContain('The client cancelled the task of the call.')
  })
})

describe('a call whose task does not end', () => {
  it('has no outcome', async () => {
    await recordTask([], ...polls)
    expect(await run('inspect', stage.tape())).toMatch(/^ +1 .*task not ended/m)
    expect(await matches('tool:research status:ok')).toEqual([])
    expect(await run('explain', stage.tape(), '0')).toContain(
      'The recording ends before the task of the call, which was waiting for input.',
    )
  })

  it('shows the number of polls, without the requests of the server', async () => {
    await recordTask([], ...polls)
    const story = await run('explain', stage.tape(), '0')
    expect(story).toMatch(/The client polled its task 3 times; its last status was “input_required”/)
    expect(story).not.toContain('continued it')
  })
})
