import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { createHttpStage, isMessage, useHttpStage } from './http-stage.js'
import { startPlay, transports } from './rules-transports.js'
import { until } from './stage.js'
import type { Line } from './tape-bytes.js'

const rules = `rules:
  - { name: hold, when: 'id:1 is:request', hold: true }
  - { name: drop, when: 'id:2 is:request', drop: true }
  - { name: delay, when: 'id:3 is:request', delay: 50ms }
  - { name: set, when: 'id:4 is:request', set: { '$.params.arguments.text': SET } }
  - { name: remove, when: 'id:5 is:request', remove: ['$.params.arguments.secret'] }
  - { name: replace, when: 'id:6 is:request', replace: { pattern: 'h(.)llo', with: 'y$1llo' } }
  - { name: respond, when: 'id:7 is:request', respond: { error: { code: -1, message: blocked } } }
  - { name: duplicate, when: 'id:8 is:request', duplicate: true }
  - { name: id, when: 'id:9 is:request', set: { '$.id': 909 } }
  - { name: mask, when: 'id:10 is:result', set: { '$.result.asked': MASKED } }
  - { name: deep, when: 'id:12 is:result', set: { '$.result.a.b': 1 } }
  - { name: disconnect, when: 'id:11 is:request', disconnect: true }`

const faults = `rules:
  - { name: refuse, when: 'method:tools/call is:request original', probability: 0.3, respond: { error: { code: -1, message: refused } } }
  - { name: change, when: 'method:tools/call is:request original', probability: 0.4, set: { '$.params.arguments.text': CHANGED } }`

const stage = useHttpStage()

describe.each(transports)('over %s', (name) => {
  it("every action of rules has its effect, and the tape has the rule's name", async () => {
    writeFileSync(stage.path('rules.yaml'), rules)
    const play = await startPlay(stage, name, ['--rules', 'rules.yaml'])
    const isStdio = name === 'stdio'
    const screen = await attach(stage)
    const held = play.ask(1, { text: 'one' })
    const { message, by, text } = await screen.held()
    expect(by).toBe('hold')
    await screen.tell({ type: 'edit', message, text: text.replace('one', 'ONE') })
    expect(await held).toContain('ONE')
    const dropped = await play.ask(2, { text: 'two' })
    if (isStdio) expect(dropped).toBe('none')
    else expect(dropped).toContain('-32000')
    expect(await play.ask(3, { text: 'three' })).toContain('three')
    expect(await play.ask(4, { text: 'four' })).toContain('SET')
    expect(await play.ask(5, { text: 'five', secret: 'x' })).not.toContain('secret')
    expect(await play.ask(6, { text: 'hello' })).toContain('yello')
    expect(await play.ask(7, { text: 'seven' })).toContain('blocked')
    expect(await play.ask(8, { text: 'eight' })).toContain('eight')
    const eights = (): Line[] => play.reached().filter((line) => JSON.stringify(line).includes('eight'))
    await until('the copy is there', () => eights().length === 2)
    const renamed = await play.ask(9, { text: 'nine' })
    expect(renamed).toContain('"id":9,')
    expect(renamed).toContain('nine')
    expect(await play.ask(10, { text: 'ten' })).toContain('MASKED')
    const failed = await play.ask(12, { text: 'twelve' })
    expect(failed).toContain('-32603')
    expect(failed).toContain('rule deep cannot be applied: $.result.a.b cannot be added to the message')
    expect(failed).not.toContain('twelve')
    const cut = await play.ask(11, { text: 'eleven' })
    expect(cut).not.toContain('eleven')
    screen.close()
    const ids = play.reached().map(({ id }) => id as number)
    for (const id of [2, 7, 9, 11]) expect(ids).not.toContain(id)
    expect(ids).toContain(909)
    const lines = await play.end()
    expect(new Set(lines.filter(({ rule }) => rule).map(({ rule }) => rule as string))).toEqual(
      new Set([
        'hold',
        'drop',
        'delay',
        'set',
        'remove',
        'replace',
        'respond',
        'duplicate',
        'id',
        'mask',
        'deep',
        'disconnect',
      ]),
    )
    const changed = lines.filter((line) => isMessage(line) && line['modified'])
    expect(changed.map((line) => ((line['original'] as Line)['id'] as number) % 500)).toEqual(
      expect.arrayContaining([1, 4, 5, 6, 9, 409, 10, 12]),
    )
    const corrs = lines.filter(
      (line) => isMessage(line) && line['dir'] === 'out' && (line['raw'] as Line)['id'] === 9,
    )
    expect(corrs[0]!['corr']).toBe(lines.find((line) => line['rule'] === 'id')!['id'])
  })

  it('a seeded run makes the same faults twice, and another seed others', async () => {
    const outcomesOf = async (seed: number): Promise<string> => {
      const own = createHttpStage()
      try {
        writeFileSync(own.path('rules.yaml'), `seed: ${seed}\n${faults}`)
        const play = await startPlay(own, name, ['--rules', 'rules.yaml'])
        const outcomes: string[] = []
        for (let id = 1; id <= 16; id += 1) {
          const came = await play.ask(id, { text: 'original' })
          outcomes.push(/refused|CHANGED|original/.exec(came)?.[0] ?? came)
        }
        const ruled = (await play.end()).filter(({ rule }) => rule).map(({ rule }) => rule as string)
        return JSON.stringify({ outcomes, ruled })
      } finally {
        await own.close()
      }
    }
    const [first, again, other] = await Promise.all([outcomesOf(7), outcomesOf(7), outcomesOf(8)])
    expect(again).toBe(first)
    expect(other).not.toBe(first)
    for (const word of ['refused', 'CHANGED', 'original']) expect(first).toContain(word)
  })
})
