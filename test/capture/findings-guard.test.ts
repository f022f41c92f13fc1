import { expect, it } from 'vitest'
import { createFindingsGuard } from '../../src/capture/findings-guard.js'
import type { Rule } from '../../src/findings/index.js'
import type { RuleFrame } from '../../src/intercept/index.js'
import { readParts } from '../../src/wire/index.js'

const broken: Rule = {
  info: {
    id: 'test/broken',
    pack: 'protocol',
    level: 'error',
    certainty: 'exact',
    title: 'Fails.',
    help: '',
    source: { name: '', url: '' },
  },
  begin: () => ({
    message() {
      throw new Error('a fault of ours')
    },
  }),
}

it('lets messages pass when a rule fails, and says once that nobody looks any more', () => {
  const told: string[] = []
  const guard = createFindingsGuard({ rules: [[broken, 'block']], onUnattended: 'block' })({
    transport: 'stdio',
    isAttended: () => false,
    tell: (text) => void told.push(text),
  })
  const subject = { direction: 'client_to_server', conversation: null } as RuleFrame['subjects'][number]
  const frame = { ...readParts('{"jsonrpc":"2.0","method":"x"}'), subjects: [subject] }
  expect([guard(frame), guard(frame)]).toEqual([[], []])
  expect(told).toEqual(['checks stop here, because a rule failed: a fault of ours'])
})
