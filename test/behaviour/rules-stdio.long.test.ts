import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { call, isMessage, ping } from './mini-talk.js'
import { until } from './stage.js'
import { linesOfTape } from './tape-bytes.js'
import { count, useRules } from './rules-stage.js'

const { stage, record, end } = useRules()

describe('a rule', () => {
  it('responds in place of the server', async () => {
    const recorder = record(`
      rules:
        - name: block
          when: 'tool:echo'
          respond: { error: { code: -1, message: 'blocked' } }`)
    await recorder.send(call(1, 'echo'))
    expect(await count(recorder, 1)).toEqual([
      { jsonrpc: '2.0', id: 1, error: { code: -1, message: 'blocked' } },
    ])
    const lines = await end(recorder)
    expect(lines.map(({ type, rule }) => [type, rule] as unknown)).toEqual([
      ['meta', undefined],
      ['held', 'block'],
      ['dropped', 'block'],
      [undefined, 'block'],
      ['end', undefined],
    ])
  })

  it('drops messages, and repeats them', async () => {
    const recorder = record(`
      rules:
        - { name: gone, when: 'dir:in id:1', drop: true }
        - { name: twice, when: 'dir:out id:2', duplicate: 1 }`)
    await recorder.send(ping(1) + ping(2) + ping(3))
    expect((await count(recorder, 3)).map(({ id }) => Number(id)).toSorted((a, b) => a - b)).toEqual([
      2, 2, 3,
    ])
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ rule: 'gone' })
    expect(lines.filter((line) => isMessage(line) && line['raw'].id === 2)).toMatchObject([
      { dir: 'in' },
      { dir: 'out', rule: 'twice' },
      { dir: 'out', rule: 'twice', injected: true },
    ])
  })

  it('delays messages, while others overtake', async () => {
    const recorder = record(`
      rules:
        - { name: later, when: 'dir:in id:1', delay: 300ms }`)
    await recorder.send(ping(1) + ping(2))
    expect((await count(recorder, 2)).map(({ id }) => id as unknown)).toEqual([2, 1])
    const lines = await end(recorder)
    const late = lines.find((line) => isMessage(line) && line['rule'] === 'later')!
    expect(late['heldMs']).toBeGreaterThanOrEqual(290)
    expect(late).not.toHaveProperty('modified')
  })

  it('follows changes of its file; an invalid file is not used, and screens are told', async () => {
    const rules = (text: string): string =>
      `rules: [{ name: r, when: 'tool:echo', respond: { result: { is: '${text}' } } }]`
    const recorder = record(rules('one'))
    const screen = await attach(stage)
    await recorder.send(call(1, 'echo'))
    expect(await count(recorder, 1)).toMatchObject([{ result: { is: 'one' } }])
    writeFileSync(stage.path('rules.yaml'), 'rules: [{ name: r, whenever: 1 }]')
    const notice = await screen.event('it is told', ({ type }) => type === 'notice')
    expect(notice['message']).toMatch(/rules\.yaml/)
    await screen.event(
      'the state has it',
      ({ type, state }) => type === 'state' && state.rules?.fault !== undefined,
    )
    await recorder.send(call(2, 'echo'))
    expect((await count(recorder, 2))[1]).toMatchObject({ result: { is: 'one' } })
    await screen.tell({ type: 'rules', file: null })
    await recorder.send(call(3, 'echo', { text: 'really' }))
    expect((await count(recorder, 3))[2]).toMatchObject({ result: { content: [{ text: 'really' }] } })
    const wrong = await screen.ask({ type: 'rules', file: stage.path('rules.yaml') })
    expect(wrong).toMatchObject({ ok: false, error: { code: 'file' } })
    writeFileSync(stage.path('rules.yaml'), rules('two'))
    await screen.tell({ type: 'rules', file: stage.path('rules.yaml') })
    const notes = await until('the tape says which rules were in force when', () => {
      const found = linesOfTape(stage.tape()).filter(({ type }) => type === 'note')
      return found.length === 3 ? found.map(({ text }) => text as string) : undefined
    })
    expect(notes[0]).toMatch(/^the previous rules stay in force: .*rules\.yaml, line 1/)
    expect(notes[1]).toBe('rules are off from here on')
    expect(notes[2]).toMatch(/^rules in force from here on: 1, from .*rules\.yaml$/)
  })
})
