/** Saved calls to the official server, over each transport. */
import { readdirSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { stringify } from 'yaml'
import { type Run, wiretapeIn } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'
import { everythingOnStdio, startEverything } from './everything.js'

const stage = useStage()

const here = wiretapeIn(stage)

const text = '$.result.content[0].text'
const calls = [
  {
    name: 'echo',
    request: { tool: 'echo', arguments: { message: '${message}' } },
    expect: { result: { content: [{ type: 'text', text: 'Echo: ${message}' }] } },
  },
  {
    name: 'sum',
    request: { tool: 'get-sum', arguments: { a: 1.5, b: 2 } },
    expect: { match: { [text]: '/3.5/' } },
  },
  {
    name: 'wrong arguments',
    request: { tool: 'get-sum', arguments: { a: 'x' } },
    expect: { fails: true },
  },
  {
    name: 'a resource',
    request: { method: 'resources/read', params: { uri: 'demo://resource/dynamic/text/1' } },
    expect: { values: { '$.result.contents[0].uri': 'demo://resource/dynamic/text/1' } },
  },
  {
    name: 'a prompt',
    request: { method: 'prompts/get', params: { name: 'simple-prompt' } },
    expect: { match: { '$.result.messages[0].content.text': '/prompt/' } },
  },
]
const save = (server: object): void =>
  writeFileSync(stage.path('calls.yaml'), stringify({ server, variables: { message: 'hi' }, calls }))

it('get the expected responses on stdio', async () => {
  save({ command: everythingOnStdio })
  expect(await here('run', 'calls.yaml', '--all')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('Same: 5 exchanges\n'),
    stderr: '',
  })
})

it.each(['streamableHttp', 'sse'] as const)(
  'get the expected responses over %s, also recorded',
  async (transport) => {
    save({ url: await startEverything(transport) })
    const good = { code: 0, stdout: 'Same: 5 exchanges\n', stderr: '' }
    expect(await here('run', 'calls.yaml')).toEqual(good)
    expect(await here('run', 'calls.yaml', '--record', 'tapes')).toEqual(good)
    const [tape] = readdirSync(stage.path('tapes'))
    const { stdout } = await here('inspect', `tapes/${tape}`)
    expect(stdout).toContain('prompts/get simple-prompt')
  },
)

it('that were saved from calls get the same responses', async () => {
  const save = (...words: string[]): Promise<Run> =>
    here('call', ...words, '--save', 'saved.yaml', '--', ...everythingOnStdio)
  expect(await save('echo', '{"message":"tea ${x}"}')).toMatchObject({ code: 0 })
  expect(await save('get-structured-content', '{"location":"Chicago"}')).toMatchObject({ code: 0 })
  expect(await here('run', 'saved.yaml')).toEqual({ code: 0, stdout: 'Same: 2 exchanges\n', stderr: '' })
})
