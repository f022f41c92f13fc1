/** Long output on a terminal: the pager's input, and how both programs end. */
import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { noTerminal, openTerminal, type Terminal } from '../clients/terminal.js'
import { leftOut, runOnTerminal } from './run-cli.js'
import { cli } from './stage.js'
import { hasScript, marked, usePagedRecordings } from './pager-stage.js'

const hasLess = spawnSync('less', ['--version']).status === 0
const { data, stage, onTerminal } = usePagedRecordings()

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

    const within = async (
      args: readonly string[],
      use: (terminal: Terminal) => Promise<void>,
    ): Promise<void> => {
      const terminal = open(...args)
      try {
        await use(terminal)
      } finally {
        terminal.close()
      }
    }

    it('shows the first rows at once, and leaving it ends the command', () =>
      within(['inspect', 'long'], async (terminal) => {
        const first = await terminal.shows(/question 5\b/)
        expect(first).not.toContain('ended')
        expect(terminal.painted()).toContain('\u001b[')
        terminal.press('q')
        expect(await terminal.shows('ended with')).toContain('ended with 0')
      }))

    it('keeps the terminal after Ctrl-C until it is left', () =>
      within(['inspect', 'long'], async (terminal) => {
        await terminal.shows(/question 5\b/)
        terminal.press('C-c')
        terminal.press('g')
        await terminal.shows(/question 5\b/)
        expect(terminal.screen()).not.toContain('ended')
        terminal.press('q')
        expect(await terminal.shows('ended with')).toContain('ended with 130')
      }))

    it('does not page output that fits on the screen', () =>
      within(['inspect', 'short'], async (terminal) => {
        expect(await terminal.shows('ended with')).toMatch(/tools\/call find[^]*ended with 0/)
      }))
  },
)
