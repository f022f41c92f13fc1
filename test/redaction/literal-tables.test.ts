import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { redactionTables } from '../../src/redaction/index.js'
import { LiteralFinder } from '../../src/redaction/literal-finder.js'
import { makeTables, packTables, unpackTables } from '../../src/redaction/literal-tables.js'
import type { Literal } from '../../src/redaction/literal.js'

const literals: readonly Literal[] = [
  { literal: 'token' },
  { literal: 'AKIA', exact: true },
  { literal: ':', before: '"', after: 'x' },
  { literal: 'eyJ', exact: true, beside: { at: 3, character: 'h' } },
]
const packed = packTables(literals)

describe('the tables of a build', () => {
  it('are those of the built-in rules', () => {
    const built = readFileSync(join(import.meta.dirname, '../../dist/bin/redaction.tables'))
    expect(built.equals(redactionTables())).toBe(true)
  })

  it('are the same when they are read', () => {
    expect(unpackTables(literals, packed)).toEqual(makeTables(literals))
    expect(unpackTables(literals, new Uint8Array([0, ...packed]).subarray(1))).toEqual(makeTables(literals))
  })

  it('find the same literals', () => {
    const text = 'a Token, AKIA, akia, eyJh":x'
    const found = [undefined, unpackTables(literals, packed)].map((tables) => {
      const finder = new LiteralFinder(literals, () => tables)
      const all: string[] = []
      finder.each(text, text.length, ({ literal }, index) => void all.push(`${literal} ${index}`))
      return all
    })
    expect(found[1]).toEqual(found[0])
    expect(found[0]).toContain('token 2')
    expect(found[0]).toContain('AKIA 9')
  })

  it.each([
    ['of other literals', [...literals, { literal: 'other' }], packed],
    ['of literals in another order', literals.toReversed(), packed],
    [
      'of a literal with another character beside it',
      [{ literal: 'token', after: 's' }],
      packTables([{ literal: 'token' }]),
    ],
    ['that are cut off', literals, packed.subarray(0, -1)],
    ['that are longer', literals, new Uint8Array([...packed, 0])],
    ['without a head', literals, new Uint8Array(15)],
    ['with a changed byte', literals, packed.map((byte, i) => (i === 40_000 ? byte ^ 1 : byte))],
    [
      'with a changed last byte',
      literals,
      packed.map((byte, i) => (i === packed.length - 1 ? byte ^ 1 : byte)),
    ],
    ['without data', literals, packed.map((byte, i) => (i < 12 ? byte : 0))],
  ])('%s are not used', (_, wanted, bytes) => {
    expect(unpackTables(wanted, bytes)).toBeUndefined()
  })
})
