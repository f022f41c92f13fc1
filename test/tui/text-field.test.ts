import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fieldOf, fieldText, typeInto, type TextField } from '../../src/tui/text-field.js'

function typed(text: string, ...names: string[]): TextField {
  return names.reduce((field, name) => typeInto(field, { name }) ?? field, fieldOf(text))
}

describe('a text field', () => {
  it.each<[string, string[], string]>([
    ['ab', ['left', 'x'], 'axb'],
    ['ab', ['home', 'delete'], 'b'],
    ['ab\ncd', ['home', 'backspace'], 'abcd'],
    ['ab', ['home', 'enter'], '\nab'],
    ['a👋', ['backspace'], 'a'],
    ['a👋', ['left', 'left', 'right', 'x'], 'ax👋'],
    ['ab\nc', ['up', 'end', 'delete'], 'abc'],
    ['abc', ['left', 'ctrl+k'], 'ab'],
    ['abc', ['left', 'ctrl+u'], 'c'],
    ['', ['backspace', 'up', 'delete'], ''],
  ])('%j after %j is %j', (text, names, expected) => {
    expect(fieldText(typed(text, ...names))).toBe(expected)
  })

  it('takes a paste of several lines where the cursor stands', () => {
    const field = typeInto(typed('ab', 'left'), { name: 'paste', text: '1\r\n2' })!
    expect(fieldText(field)).toBe('a1\n2b')
    expect([field.row, field.column]).toEqual([1, 1])
  })

  it('keeps its cursor inside of the text whatever is pressed, and loses nothing that is only walked over', () => {
    const walk = fc.constantFrom('left', 'right', 'up', 'down', 'home', 'end', 'pageup', 'pagedown')
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.array(walk, { maxLength: 40 }),
        (text, names) => {
          const lines = text.split(/\r\n|[\r\n]/).join('\n')
          const field = typed(text, ...names)
          expect(fieldText(field)).toBe(lines)
          expect(field.column).toBeLessThanOrEqual(field.lines[field.row]!.length)
        },
      ),
    )
  })
})
