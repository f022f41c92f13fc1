/** Long output on a terminal: the pager's input, and how both programs end. */
import { describe, expect, it } from 'vitest'
import { isLong } from '../long.js'
import { leftOut } from './run-cli.js'
import { hasScript, marked, usePagedRecordings } from './pager-stage.js'

const { onTerminal } = usePagedRecordings()

describe.skipIf(leftOut(hasScript, 'pagers: there is no script'))('long output on a terminal', () => {
  const always = [['inspect', 'short'], ['ls']]
  const others = [
    ['search', 'find'],
    ['stats'],
    ['diff', 'short', 'short'],
    ['check', 'short'],
    ['cost', 'short'],
  ]
  it.each(isLong ? [...always, ...others] : always)('of %s goes through $PAGER', async (...args) => {
    const lines = (await onTerminal(args, marked)).trimEnd().split('\n')
    expect(lines.filter((line) => !line.startsWith('paged: '))).toEqual([])
    expect(lines.join('\n')).toMatch(/paged: .*\w/)
  })
})
