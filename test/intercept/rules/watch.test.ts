import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { watchRules, type WatchedRules } from '../../../src/intercept/index.js'
import { callText, frameOf } from './deciding.js'

let folder: string
let watched: WatchedRules | undefined

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-rules-'))
})
afterEach(() => {
  watched?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Resolves at each change of the watched file. */
function changes(): {
  readonly next: () => Promise<WatchedRules>
  readonly onChange: (rules: WatchedRules) => void
} {
  const seen: WatchedRules[] = []
  let wake: (() => void) | undefined
  return {
    onChange(rules) {
      seen.push(rules)
      wake?.()
    },
    async next() {
      while (seen.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return seen.shift()!
    },
  }
}

describe('watchRules', () => {
  it('uses a changed file, and keeps the old rules when it is invalid, with a message', async () => {
    const path = join(folder, 'rules.yaml')
    writeFileSync(path, `rules: [{ name: a, when: '', drop: true }]`)
    const { next, onChange } = changes()
    const started = await watchRules(path, { name: 'rules.yaml', intervalMs: 5, onChange })
    watched = started.rules
    expect(watched?.current.names).toEqual(['a'])

    writeFileSync(path, `rules: [{ name: bb, when: 'is:x', drop: true }]`)
    const faulty = await next()
    expect(faulty.fault).toMatch(/^rules.yaml, line 1, column 31: when: unknown value x: expected one of /)
    expect(faulty.current.names).toEqual(['a'])

    // Editors write a new file and rename it.
    writeFileSync(`${path}~`, `rules: [{ name: b, when: '', hold: true }]`)
    renameSync(`${path}~`, path)
    const taken = await next()
    expect(taken.fault).toBeUndefined()
    expect(taken.current.decide(frameOf(callText('x')))).toMatchObject({ rule: 'b', verdict: 'hold' })

    rmSync(path)
    expect((await next()).fault).toBe('rules.yaml: cannot be read: no such file')
    expect(taken.current.names).toEqual(['b'])
  })

  it('looks at the files that rules respond with, beside the rules file', async () => {
    const path = join(folder, 'rules.json')
    writeFileSync(join(folder, 'answer.json'), '{"result": {"n": 1}}')
    writeFileSync(path, `{"rules":[{"name":"a","when":"","respond":{"file":"answer.json"}}]}`)
    const { next, onChange } = changes()
    watched = (await watchRules(path, { intervalMs: 5, onChange })).rules
    const answer = (): unknown => watched?.current.decide(frameOf(callText('x')))?.answers
    expect(answer()).toEqual(['{"jsonrpc":"2.0","id":7,"result":{"n": 1}}'])
    writeFileSync(join(folder, 'answer.json'), '{"result":\n{"n": 22}}')
    await next()
    expect(answer()).toEqual(['{"jsonrpc":"2.0","id":7,"result":{"n": 22}}'])
  })

  it('does not begin with a file that is wrong', async () => {
    expect(await watchRules(join(folder, 'none.yaml'), { name: 'none.yaml' })).toEqual({
      fault: 'none.yaml: cannot be read: no such file',
    })
  })
})
