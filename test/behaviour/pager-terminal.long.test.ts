/** Long output on a terminal: the pager's input, and how both programs end. */
import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noTerminal, openTerminal, type Terminal } from '../clients/terminal.js'
import { createDataFolder, daysAgo, toolCall } from './data-folder.js'
import { leftOut, runOnTerminal, unstyled } from './run-cli.js'
import { cli, createStage } from './stage.js'

const hasScript = spawnSync('script', ['--version']).status === 0
const hasLess = spawnSync('less', ['--version']).status === 0
const data = createDataFolder()
const stage = createStage()

const find = { name: 'find', inputSchema: { type: 'object', properties: { q: { type: 'string' } } } }

beforeAll(() => {
  const at = daysAgo(1)
  const offered = { method: 'tools/list', params: {}, result: { tools: [find] } }
  const asked = [offered, toolCall('find', { q: 'a' }, 'no such thing')]
  data.put('short.jsonl', { label: 'short', at, server: { name: 'short', version: '1' }, asked })
  // More than a pipe holds, so that the program is still writing when the pager shows its first screen.
  const many = Array.from({ length: 3000 }, (_, n) => toolCall('find', { q: `question ${n}` }, `answer ${n}`))
  data.put('long.jsonl', { label: 'long', at, asked: many })
})
afterAll(async () => {
  data.close()
  await stage.close()
})

async function onTerminal(args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const options = { cwd: data.home, env: { XDG_DATA_HOME: data.home, ...env } }
  const { stdout, code } = await runOnTerminal([process.execPath, cli, ...args], 100, options)
  expect(code).toBe(0)
  return unstyled(stdout)
}

const marked = { PAGER: "sed 's/^/paged: /'" }

describe.skipIf(leftOut(hasScript, 'pagers: there is no script'))('long output on a terminal', () => {
  it('goes through $WIRETAPE_PAGER if both are there, and keeps its colours', async () => {
    const options = { env: { XDG_DATA_HOME: data.home, ...marked, WIRETAPE_PAGER: "sed 's/^/mine: /'" } }
    const { stdout } = await runOnTerminal([process.execPath, cli, 'ls'], 100, options)
    expect(stdout).toMatch(/^mine: /)
    expect(stdout).toContain('\u001b[')
  })

  it.each([
    ['--json', ['inspect', 'short', '--json'], marked],
    ['--jsonl', ['ls', '--jsonl'], marked],
    ['--raw', ['inspect', 'short', '--raw', '4'], marked],
    ['--format tsv', ['inspect', 'short', '--format', 'tsv'], marked],
    ['--no-pager', ['inspect', 'short', '--no-pager'], marked],
    ['an empty $WIRETAPE_PAGER', ['ls'], { ...marked, WIRETAPE_PAGER: '' }],
    ['PAGER=cat', ['ls'], { PAGER: 'cat' }],
    ['a program that does not exist', ['ls'], { PAGER: 'wiretape-no-such-pager -x' }],
    ['a dumb terminal', ['ls'], { PAGER: undefined, TERM: 'dumb' }],
  ])('is printed without a pager: %s', async (_, args, env) => {
    const printed = await onTerminal(args, env)
    expect(printed).not.toContain('paged: ')
    expect(printed).toMatch(/short|find/)
    expect(printed).not.toContain('not found')
  })

  it('ends with the pager, quietly', async () => {
    const lines = (await onTerminal(['inspect', 'long'], { PAGER: 'head -n 4' })).split('\n')
    expect(lines).toHaveLength(5)
  })
})

describe.skipIf(leftOut(noTerminal === undefined && hasLess, `less: ${noTerminal ?? 'it is not installed'}`))(
  'less',
  () => {
    const open = (...args: string[]): Terminal => {
      const { PAGER: _pager, LESS: _less, WIRETAPE_PAGER: _own, ...env } = process.env
      return openTerminal(
        stage,
        ['sh', '-c', 'trap : INT; "$@"; echo "ended with $?"', 'sh', process.execPath, cli, ...args],
        {
          env: { ...env, XDG_DATA_HOME: data.home },
        },
      )
    }

    it('shows the first rows at once, and leaving it ends the command', async () => {
      const terminal = open('inspect', 'long')
      try {
        const first = await terminal.shows(/question 5\b/)
        expect(first).not.toContain('ended')
        expect(terminal.painted()).toContain('\u001b[')
        terminal.press('q')
        expect(await terminal.shows('ended with')).toContain('ended with 0')
      } finally {
        terminal.close()
      }
    })

    it('keeps the terminal after Ctrl-C until it is left', async () => {
      const terminal = open('inspect', 'long')
      try {
        await terminal.shows(/question 5\b/)
        terminal.press('C-c')
        terminal.press('g')
        await terminal.shows(/question 5\b/)
        expect(terminal.screen()).not.toContain('ended')
        terminal.press('q')
        expect(await terminal.shows('ended with')).toContain('ended with 130')
      } finally {
        terminal.close()
      }
    })

    it('does not page output that fits on the screen', async () => {
      const terminal = open('inspect', 'short')
      try {
        expect(await terminal.shows('ended with')).toMatch(/tools\/call find[^]*ended with 0/)
      } finally {
        terminal.close()
      }
    })
  },
)
