/** The output of `--json` conforms to docs/schemas. */
import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { wiretape } from './run-cli.js'

const files = [
  'every-kind.jsonl',
  'plain-v1.jsonl',
  'cut-off.jsonl',
  'bad-lines.jsonl',
  'hostile.jsonl',
  'rotated.jsonl',
]

async function output(...args: string[]): Promise<string> {
  const { stdout, stderr } = await wiretape(args)
  expect(stderr).toBe('')
  return stdout
}

describe('machine output', () => {
  it.each(files)('of inspect is as published, for %s', async (file) => {
    for (const options of [[], ['-v'], ['--filter', 'is:request']])
      expectSchema('inspect', JSON.parse(await output('inspect', '--json', ...options, file)))
  })

  it('of inspect comes line by line too', async () => {
    const { messages } = JSON.parse(await output('inspect', '--json', '-v', files[0]!)) as {
      messages: object[]
    }
    const lines = (await output('inspect', '--jsonl', '-v', files[0]!)).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line) as object)).toEqual(
      messages.map((message) => ({ version: 1, ...message })),
    )
  })

  it('of ls and cost is as published', async () => {
    expectSchema('ls', JSON.parse(await output('ls', '--json', '.')))
    expectSchema('cost', JSON.parse(await output('cost', '--json', 'every-kind.jsonl')))
  })

  it.each(files)('of explain is as published, for %s', async (file) => {
    expectSchema('explain', JSON.parse(await output('explain', '--json', file)))
  })
})
