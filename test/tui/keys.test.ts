import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createKeyReader, type Key } from '../../src/tui/keys.js'
import { textsOf } from '../random-text.js'

function keysOf(...chunks: string[]): string[] {
  const reader = createKeyReader()
  const keys: Key[] = chunks.flatMap((chunk) => reader.push(chunk))
  return [...keys, ...reader.settle()].map(({ name, text }) =>
    text === undefined ? name : `${name}:${text}`,
  )
}

describe('keys', () => {
  it.each([
    ['\u001b[A', 'up'],
    ['\u001bOA', 'up'],
    ['\u001b[1;5A', 'up'],
    ['\u001b[15~', 'f5'],
    ['\u001b[17~', 'f6'],
    ['\u001b[19~', 'f8'],
    ['\u001b[20~', 'f9'],
    ['\u001bOP', 'f1'],
    ['\u001b[[A', 'f1'],
    ['\u001b[[E', 'f5'],
    ['\u001b[5~', 'pageup'],
    ['\u001b[H', 'home'],
    ['\u001b[Z', 'shift+tab'],
    ['\u0013', 'ctrl+s'],
    ['\u0003', 'ctrl+c'],
    ['\r', 'enter'],
    ['\u007f', 'backspace'],
    ['\u001b', 'esc'],
    ['\u001bx', 'alt+x'],
    ['\u001b]', 'alt+]'],
    ['\u001bP', 'alt+P'],
    ['é', 'é'],
    ['👋', '👋'],
  ])('%j is %s', (sequence, name) => {
    expect(keysOf(sequence)).toEqual([name])
  })

  it('are several in one read, and one in several reads', () => {
    expect(keysOf('jk\u001b[B/')).toEqual(['j', 'k', 'down', '/'])
    expect(keysOf('\u001b', '[1', '5~')).toEqual(['f5'])
  })

  it('that are unknown are ignored', () => {
    expect(keysOf('\u001b[?1;2c\u001b[99~j')).toEqual(['j'])
    expect(keysOf('\u001b[[xj')).toEqual(['j'])
  })

  it.each([
    ['a colour, ended by BEL', '\u001b]11;rgb:1e1e/1e1e/2e2e\u0007'],
    ['a colour, ended by ST', '\u001b]11;rgb:1e1e/1e1e/2e2e\u001b\\'],
    ['a version', '\u001bP>|XTerm(390)\u001b\\'],
    ['a picture that came', '\u001b_Gi=31;OK\u001b\\'],
  ])('are not what a terminal answers: %s', (_, answer) => {
    expect(keysOf(`j${answer}k`)).toEqual(['j', 'k'])
    for (let at = 3; at < answer.length; at += 1) {
      expect(keysOf(answer.slice(0, at), `${answer.slice(at)}k`)).toEqual(['k'])
    }
  })

  it('come again after an answer that was cut off', () => {
    const reader = createKeyReader()
    expect(reader.push('\u001b]11;rgb:1e')).toEqual([])
    expect(reader.pending).toBe(true)
    expect(reader.settle()).toEqual([])
    expect(reader.push('j')).toEqual([{ name: 'j' }])
  })

  it('which were pasted come as one, line breaks and escapes included', () => {
    expect(keysOf('\u001b[200~a\nb\u001b[Aq', '\u001b[20', '1~j')).toEqual(['paste:a\nb\u001b[Aq', 'j'])
  })

  it('are the same however the bytes are cut', () => {
    const keys = [
      '\u001b[A',
      '\u001b[15~',
      '\u001b[200~x\u001b[201~',
      '\u001bOP',
      '\u001b[[B',
      '\u001b]0;x\u0007',
    ]
    fc.assert(
      fc.property(
        textsOf('jä\r', keys, { maxLength: 8 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 6 }),
        (text, cuts) => {
          const places = [...new Set(cuts.map((cut) => Math.min(cut, text.length)))].toSorted((a, b) => a - b)
          const chunks = [...places, text.length].map((end, i) =>
            text.slice(i === 0 ? 0 : places[i - 1], end),
          )
          expect(keysOf(...chunks)).toEqual(keysOf(text))
        },
      ),
    )
  })
})
