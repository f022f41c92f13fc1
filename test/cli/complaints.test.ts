import { describe, expect, it } from 'vitest'
import { createComplaints } from '../../src/cli/complaints.js'
import type { Io } from '../../src/cli/io.js'
import type { Diagnostic } from '../../src/model/index.js'

async function told(
  given: readonly (Pick<Diagnostic, 'code' | 'message'> & { line?: number })[],
): Promise<string[]> {
  const complaints = createComplaints()
  for (const { line, ...diagnostic } of given) {
    complaints.output('x', {
      severity: 'warning',
      ...diagnostic,
      ...(line !== undefined && { at: { line } }),
    })
  }
  const lines: string[] = []
  const complain = async (text: string): Promise<void> => void lines.push(text)
  await complaints.tell({ complain } as unknown as Io)
  return lines
}

const badLines = Array.from({ length: 25 }, (_, i) => ({
  code: 'bad-line',
  message: 'not valid JSON',
  line: i + 1,
}))

describe('what is wrong', () => {
  it('is counted where there is much of one kind, and hides nothing of another', async () => {
    const lines = await told([
      ...badLines,
      { code: 'lost', message: 'links are left out: 7' },
      { code: 'lost', message: 'notes are left out: 2' },
    ])
    expect(lines.slice(0, 2)).toEqual(['x, line 1: not valid JSON', 'x, line 2: not valid JSON'])
    expect(lines.slice(19)).toEqual([
      'x, line 20: not valid JSON',
      'and 5 more like this',
      'x: links are left out: 7',
      'x: notes are left out: 2',
    ])
  })

  it('is of one kind when it differs in names and numbers only', async () => {
    const orphans = Array.from({ length: 30 }, (_, i) => ({
      code: 'import',
      message: `orphan with "a\\"${'b'.repeat(i)}" at ${i}`,
    }))
    const lines = await told([...orphans, { code: 'import', message: 'entry 31: cut off' }])
    expect(lines.slice(20)).toEqual(['and 10 more like this', 'x: entry 31: cut off'])
  })

  it('is bounded, however many kinds there are', async () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz'.split('')
    const kinds = letters.flatMap((a) => letters.map((b) => ({ code: 'import', message: `${a}${b}` })))
    const lines = await told(kinds)
    expect(lines.length).toBeLessThanOrEqual(122)
    expect(lines.at(-1)).toBe(`and ${kinds.length - lines.length + 1} more like this`)
  })
})
