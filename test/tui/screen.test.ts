import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/render/index.js'
import { runs } from '../long.js'
import { call, createScreen, gate, hello, result } from './stage.js'

const request = (seq: number, more: object = {}): object => ({ corr: `message-${seq}`, ...more })

describe('the list', () => {
  it('shows what each message is about, and what an answer answers', () => {
    const screen = createScreen()
    const asked = screen.message('in', call(1, 'search'))
    screen.message('out', result(1, 'found'), request(asked))
    const picture = screen.picture().join('\n')
    expect(picture).toMatch(/▶ +tools\/call search/)
    expect(picture).toMatch(/◀ +result of tools\/call search {2}found +1 +1.0 ms/)
  })

  it('follows new messages until the user moves, and again with G', () => {
    const screen = createScreen()
    for (let i = 0; i < 30; i += 1) screen.message('in', call(i, `tool-${i}`))
    expect(screen.marked()).toContain('tool-29')
    screen.press('k')
    screen.message('in', call(99, 'newest'))
    expect(screen.marked()).toContain('tool-28')
    screen.press('G')
    expect(screen.marked()).toContain('newest')
    screen.press('g')
    expect(screen.marked()).toContain('tool-0')
  })

  it('is filled again when the terminal becomes longer', () => {
    const screen = createScreen({ rows: 12 })
    for (let i = 0; i < 30; i += 1) screen.message('in', call(i, `tool-${i}`))
    screen.dispatch({ type: 'resize', columns: 80, rows: 60 })
    expect(screen.picture().filter((line) => line.includes('tools/call tool-')).length).toBeGreaterThan(20)
  })

  it('goes from error to error', () => {
    const screen = createScreen()
    const first = screen.message('in', call(1, 'fine'))
    screen.message('out', result(1, 'ok'), request(first))
    const second = screen.message('in', call(2, 'broken'))
    screen.message('out', { jsonrpc: '2.0', id: 2, error: { code: -32000, message: 'no' } }, request(second))
    screen.press('g', 'n')
    expect(screen.marked()).toContain('tools/call broken')
    screen.press('n')
    expect(screen.marked()).toContain('error of tools/call broken: -32000 no')
    screen.press('n')
    expect(screen.picture().join('\n')).toContain('no later error')
    screen.press('x')
    expect(screen.marked()).toMatch(/▶ +tools\/call broken/)
  })

  it('shows what a filter lets through while it is typed, marks its faults, and keeps the message that was chosen', () => {
    const screen = createScreen()
    for (let i = 0; i < 40; i += 1) screen.message('in', call(i, i % 2 === 0 ? 'even' : `odd-${i}`))
    screen.press('g', 'j', 'j', 'j', '/')
    screen.type('tool:odd')
    expect(screen.marked()).toBe('')
    screen.type('-*')
    expect(screen.marked()).toContain('odd-3')
    expect(screen.picture().at(-2)).toContain('20 of 40 rows')
    screen.press('enter')
    screen.message('in', call(41, 'odd-41'))
    screen.message('in', call(42, 'even'))
    expect(screen.picture().at(-2)).toContain('21 of 42 rows')
    screen.press('/')
    screen.type(' (')
    expect(screen.picture().at(-1)).toMatch(/column \d+/)
    screen.press('esc', 'esc')
    expect(screen.picture().at(-2)).toContain('42 rows')
    expect(screen.marked()).toContain('odd-3')
  })
})

describe('the picture', () => {
  it('has one line less than the terminal, none of them wider, whatever the peers said', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constantFrom('\u001b[2J\u001b]0;gone\u0007', '漢字'.repeat(60), '👩‍👩‍👧‍👦'.repeat(30), '\u202e\u0000\r\n'),
    )
    fc.assert(
      fc.property(
        hostile,
        fc.integer({ min: 20, max: 160 }),
        fc.integer({ min: 8, max: 60 }),
        (text, columns, rows) => {
          const screen = createScreen({ columns, rows })
          const asked = screen.message('in', call(1, text, { text }))
          screen.message('out', { jsonrpc: '2.0', id: 1, error: { code: 1, message: text } }, request(asked))
          screen.line(JSON.stringify({ type: 'stderr', t: '2026-01-01T00:00:00.500Z', text }))
          for (const keys of [[], ['k'], ['z'], ['z', '?'], ['j', 'c']]) {
            screen.press(...keys)
            const picture = screen.picture()
            expect(picture).toHaveLength(Math.max(rows - 1, 7))
            for (const line of picture) {
              expect(widthOf(line)).toBeLessThanOrEqual(columns)
              expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/)
            }
          }
        },
      ),
      { numRuns: runs(40) },
    )
  })

  it('shows request and answer side by side where there is room', () => {
    const screen = createScreen({ columns: 140 })
    const asked = screen.message('in', call(1, 'search', { query: 'what was asked' }))
    screen.message('out', result(1, 'what was found'), request(asked))
    const both = screen.picture().filter((line) => line.includes('│'))
    expect(both.some((line) => /tools\/call search.*│.*result of tools\/call search/.test(line))).toBe(true)
  })

  it('shows a changed message before and after the change', () => {
    const screen = createScreen({ rows: 26 })
    screen.message('in', call(1, 'search', { q: 'new' }), {
      modified: true,
      original: call(1, 'search', { q: 'old' }),
    })
    const picture = screen.picture().join('\n')
    expect(picture).toMatch(/- +"q": "old"/)
    expect(picture).toMatch(/\+ +"q": "new"/)
  })

  it('lists every key on the help page', () => {
    const screen = createScreen({ rows: 60 })
    screen.press('?')
    const picture = screen.picture().join('\n')
    for (const key of ['i ', 'f F5', 'd F8', 'm F6', 'r F9', '/ ', 's ', 'q Ctrl+C', 'y ', 'F ']) {
      expect(picture).toContain(` ${key}`)
    }
    expect(picture).toContain('start holding messages')
    screen.press('x')
    expect(screen.picture().join('\n')).not.toContain('start holding messages')
  })
})

describe('what is held', () => {
  it('is marked, passed on, dropped, and never decided about by mistake', () => {
    const screen = createScreen()
    screen.message('in', call(1, 'free'))
    screen.held(call(2, 'caught'))
    expect(screen.marked()).toContain('⏸')
    expect(screen.picture().at(-2)).toContain('[INTERCEPT] 1 held')
    screen.press('f')
    expect(screen.effects()).toEqual([
      { kind: 'command', command: { type: 'forward', message: 'message-1' }, as: 'forward' },
    ])
    screen.press('k', 'f5')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().at(-2)).toContain('is not held')
    screen.press('h', 'f8')
    expect(screen.effects()).toEqual([
      { kind: 'command', command: { type: 'drop', message: 'message-1' }, as: 'drop' },
    ])
  })

  it('stays chosen while other messages come, until it is decided about or somebody moves', () => {
    const screen = createScreen()
    screen.held(call(1, 'first'))
    screen.held(call(2, 'second'))
    screen.message('in', call(3, 'free'))
    expect(screen.marked()).toContain('first')
    screen.press('G')
    expect(screen.marked()).toContain('free')
    screen.message('in', call(4, 'newest'))
    expect(screen.marked()).toContain('newest')
  })

  it('is edited as indented text and goes out on one line; faults stay in the editor', () => {
    const screen = createScreen()
    screen.held(call(2, 'search', { q: 'old' }))
    screen.press('m')
    expect(screen.picture().join('\n')).toContain('"q": "old"')
    screen.press('x', 'ctrl+s')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().join('\n')).toContain('not JSON: ')
    screen.press('backspace')
    for (let i = 0; i < 7; i += 1) screen.press('down')
    screen.press('end')
    for (let i = 0; i < 5; i += 1) screen.press('backspace')
    screen.type('"new"')
    screen.press('f6', 'ctrl+s')
    const text =
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"search","arguments":{"q":"new"}}}'
    expect(screen.effects()).toEqual([
      { kind: 'command', command: { type: 'edit', message: 'message-0', text }, as: 'edit' },
    ])
    screen.failed('edit', 'it holds [REDACTED]')
    expect(screen.picture().join('\n')).toContain('it holds [REDACTED]')
    screen.done('edit')
    expect(screen.picture().at(-2)).toContain('changed and forwarded')
  })

  it('that somebody else decides about says so in the editor', () => {
    const screen = createScreen()
    screen.held(call(2, 'search'))
    screen.press('m')
    screen.dispatch({ type: 'released', message: 'message-0', outcome: 'forwarded' })
    expect(screen.picture().join('\n')).toContain('the message is no longer held: it was forwarded')
  })

  it('goes on as it came when nothing but white space was changed, and stays when the editor is left', () => {
    const screen = createScreen()
    screen.held(call(2, 'search'))
    screen.press('m', 'enter', 'ctrl+s')
    expect(screen.effects()).toMatchObject([{ command: { type: 'forward', message: 'message-0' } }])
    screen.press('esc')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().at(-2)).toContain('the message is still held')
  })

  it('is answered with a result or an error, not with both', () => {
    const screen = createScreen()
    screen.held(call(2, 'search'))
    const answer = (text: string): void => {
      screen.press('a')
      for (let i = 0; i < 12; i += 1) screen.press('ctrl+k', 'delete')
      screen.paste(text)
      screen.press('ctrl+s')
    }
    answer('{"result":{},"error":{}}')
    expect(screen.effects()).toEqual([])
    screen.press('esc')
    answer('{"error":{"code":1e0,"message":"no"}}')
    expect(screen.effects()).toEqual([
      {
        kind: 'command',
        command: { type: 'answer', message: 'message-0', error: '{"code":1e0,"message":"no"}' },
        as: 'answer',
      },
    ])
  })

  it('is said before a screen leaves it', () => {
    const screen = createScreen()
    screen.held(call(2, 'search'))
    screen.press('q')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().at(-2)).toContain('forwarded when you leave')
    screen.press('j', 'q')
    expect(screen.effects()).toEqual([])
    screen.press('q')
    expect(screen.effects()).toEqual([{ kind: 'quit' }])
  })
})

describe('the session', () => {
  it('is saved, and where it was saved is said', () => {
    const screen = createScreen()
    screen.press('s')
    expect(screen.picture().at(-1)).toContain(`save to: ${hello.sessionFile}`)
    screen.press('enter')
    expect(screen.effects()).toEqual([{ kind: 'command', command: { type: 'save' }, as: 'save' }])
    screen.done('save', { path: '/data/a.session.json' })
    expect(screen.picture().at(-2)).toContain('saved /data/a.session.json')
  })

  it('is saved where the person says, and nowhere without a path or after Esc', () => {
    const screen = createScreen()
    const saveTo = (path: string, end: string): void => {
      screen.press('s', 'ctrl+u')
      screen.type(path)
      screen.press(end)
    }
    saveTo('evidence.json', 'enter')
    expect(screen.effects()).toEqual([
      { kind: 'command', command: { type: 'save', path: resolve('evidence.json') }, as: 'save' },
    ])
    saveTo('~/e.json', 'enter')
    expect(screen.effects()).toMatchObject([{ command: { path: join(homedir(), 'e.json') } }])
    saveTo('', 'enter')
    saveTo('x', 'esc')
    expect(screen.effects()).toEqual([])
  })

  it('is saved and ended by the screen that owns it; when it cannot be saved, only a second q ends it', () => {
    const screen = createScreen({ owner: true })
    screen.press('q')
    expect(screen.effects()).toMatchObject([{ as: 'save-and-stop', command: { type: 'save' } }])
    screen.failed('save-and-stop', 'the disk is full')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().at(-2)).toContain('the disk is full')
    screen.press('q')
    expect(screen.effects()).toMatchObject([{ as: 'stop' }])
    screen.done('stop')
    expect(screen.effects()).toEqual([{ kind: 'quit' }])
  })

  it('is not ended by its owner while something waits, unless asked twice', () => {
    const screen = createScreen({ owner: true })
    screen.held(call(2, 'search'))
    screen.press('q')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().at(-2)).toContain('1 held message is dropped')
    screen.press('q')
    expect(screen.effects()).toMatchObject([{ as: 'save-and-stop' }])
  })

  it.each([
    [
      'is passed on',
      [result(1, 'x')],
      '1 held message of the server is forwarded when the capture ends (press q again to end it)',
    ],
    [
      'is among requests',
      [call(2, 'a'), call(3, 'b'), result(1, 'x')],
      '2 held messages are dropped, 1 is forwarded when the capture ends (press q again to end it)',
    ],
  ])('says what becomes of a held answer, which %s', (_, held, words) => {
    const screen = createScreen({ owner: true, columns: 100 })
    for (const message of held) screen.held(message)
    screen.press('q')
    expect(screen.picture().at(-2)).toContain(words)
  })

  it('that is over is left at once', () => {
    const screen = createScreen({ owner: true })
    screen.dispatch({ type: 'phase', phase: 'ended' })
    screen.press('i')
    expect(screen.effects()).toEqual([])
    expect(screen.picture().at(-2)).toContain('the capture has ended')
    screen.press('q')
    expect(screen.effects()).toEqual([{ kind: 'quit' }])
  })

  it('is switched between passing on and holding, and stopped at what matches a message', () => {
    const screen = createScreen()
    screen.press('i')
    expect(screen.effects()).toMatchObject([{ command: { type: 'hold', on: true } }])
    screen.dispatch({ type: 'gate', gate: { ...gate, hold: true } })
    screen.press('i')
    expect(screen.effects()).toMatchObject([{ command: { type: 'hold', on: false } }])
    screen.message('in', call(1, 'search it'))
    screen.press('b', 'enter')
    expect(screen.effects()).toMatchObject([
      { command: { type: 'breakpoints', filters: ['tool:"search it"'] } },
    ])
    screen.dispatch({ type: 'gate', gate: { ...gate, hold: false } })
    screen.press('b', 'enter')
    // Nothing would be held otherwise.
    expect(screen.effects()).toMatchObject([
      { command: { type: 'breakpoints' } },
      { command: { type: 'hold', on: true } },
    ])
  })
})

describe('a request', () => {
  it('is sent again, and the answers are compared', () => {
    const screen = createScreen({ rows: 50 })
    const asked = screen.message('in', call(1, 'search'))
    screen.message('out', result(1, 'old'), request(asked))
    screen.press('r')
    expect(screen.effects()).toEqual([
      { kind: 'command', command: { type: 'replay', message: 'message-0' }, as: 'again' },
    ])
    expect(screen.picture().join('\n')).toContain('waiting for the response')
    screen.done('again', { answer: JSON.stringify(result(7, 'new')), sent: '{}', latencyMs: 12 })
    const picture = screen.picture().join('\n')
    expect(picture).toMatch(/- +"text": "old"/)
    expect(picture).toMatch(/\+ +"text": "new"/)
    screen.done('again', { answer: JSON.stringify(result(8, 'old')), sent: '{}', latencyMs: 12 })
    screen.message('in', call(9, 'newest'))
    expect(screen.picture().join('\n')).toContain('same response as before')
  })

  it('that was redacted is written out by a person first', () => {
    const screen = createScreen()
    screen.message('in', call(1, 'search', { key: '[REDACTED]' }))
    screen.press('r')
    screen.effects()
    screen.failed('again', 'it holds a secret that was taken out', 'redacted')
    expect(screen.picture().join('\n')).toContain('replace [REDACTED] with the real values')
    screen.press('ctrl+s')
    expect(screen.effects()).toMatchObject([
      { command: { type: 'replay', message: 'message-0' }, as: 'again' },
    ])
  })
})

describe('what comes of a command that takes its time', () => {
  it('is shown with the request that it was about, whatever was sent again since', () => {
    const screen = createScreen({ rows: 50 })
    screen.message('out', result(1, 'old slow'), request(screen.message('in', call(1, 'slow'))))
    screen.press('r')
    const slow = screen.token('again')
    screen.message('out', result(2, 'old fast'), request(screen.message('in', call(2, 'fast'))))
    screen.press('G', 'r')
    screen.done('again', { answer: JSON.stringify(result(2, 'new fast')), sent: '{}', latencyMs: 1 })
    screen.done('again', { answer: JSON.stringify(result(1, 'new slow')), sent: '{}', latencyMs: 1 }, slow)
    screen.failed('again', 'no response within 60 s', 'no-answer', slow)
    const picture = screen.picture().join('\n')
    expect(picture).toMatch(/\+ .*new fast/)
    expect(picture).not.toContain('new slow')
  })

  it.each(['again', 'compose'] as const)('(%s) leaves the editor that is open by then', (as) => {
    for (const outcome of ['done', 'failed', 'redacted']) {
      const screen = createScreen({ rows: 50 })
      screen.message('in', call(1, 'slow'))
      if (as === 'again') screen.press('r')
      else screen.press('c', 'ctrl+s', 'esc')
      screen.held(call(2, 'search'))
      screen.press('G', 'm')
      screen.type('written ')
      if (outcome === 'done') screen.done(as, { answer: JSON.stringify(result(1, 'new')) })
      else screen.failed(as, 'no answer came', outcome === 'redacted' ? 'redacted' : 'no-answer')
      expect(screen.state.editor).toMatchObject({ purpose: 'edit', message: 'message-1' })
      expect(screen.state.editor).not.toHaveProperty('fault')
      expect(screen.picture().join('\n')).toContain('written {')
    }
  })

  it('is waited for in the editor, which says so, sends nothing twice and keeps what is written meanwhile', () => {
    const screen = createScreen({ rows: 50 })
    screen.press('c', 'ctrl+s', 'ctrl+s')
    expect(screen.effects()).toHaveLength(1)
    expect(screen.picture().join('\n')).toContain('sent, waiting for the response')
    screen.press('down')
    expect(screen.picture().join('\n')).toContain('sent, waiting for the response')
    screen.done('compose', { answer: '{}', latencyMs: 1500 })
    expect(screen.state.editor).toBeUndefined()
    expect(screen.picture().at(-2)).toContain('sent; response after 1.5 s')
    screen.press('c', 'ctrl+s')
    screen.type(' ')
    screen.done('compose')
    expect(screen.state.editor).toBeDefined()
  })
})

describe('a long sentence', () => {
  const sentence =
    'the text has [REDACTED] instead of a secret (insert the real value, which a held message contains)'

  it('below an editor is there to its end', () => {
    const screen = createScreen()
    screen.held(call(2, 'search'))
    screen.press('m', 'ctrl+s')
    screen.failed('edit', sentence, 'redacted')
    const picture = screen.picture()
    expect(picture).toHaveLength(23)
    expect(picture.join(' ').replaceAll(/ +/g, ' ')).toContain(sentence)
  })

  it('in the status bar has the line of the hints too', () => {
    const screen = createScreen()
    screen.dispatch({ type: 'notice', notice: { text: sentence, tone: 'bad' } })
    const picture = screen.picture()
    expect(picture).toHaveLength(23)
    expect(picture.slice(-2).join(' ').replaceAll(/ +/g, ' ')).toContain(sentence)
    screen.press('j')
    expect(screen.picture().at(-1)).toContain('intercept')
  })
})

describe('rules', () => {
  const fault = '/rules.yaml, line 3, column 5: no such member'
  const rules = { file: '/rules.yaml', count: 1 }

  it('are counted, and their fault is told to who comes later', () => {
    const screen = createScreen({ columns: 120 })
    screen.dispatch({ type: 'gate', gate: { ...gate, rules } })
    expect(screen.picture().at(-2)).toMatch(/1 rule(?!s)/)
    screen.dispatch({ type: 'gate', gate: { ...gate, rules: { ...rules, fault } } })
    expect(screen.picture().at(-2)).toContain(fault)
    screen.press('j')
    expect(screen.picture().at(-2)).toContain('1 rule (fault)')
    screen.dispatch({ type: 'gate', gate: { ...gate, rules: { ...rules, fault } } })
    expect(screen.picture().at(-2)).not.toContain(fault)
    screen.dispatch({ type: 'gate', gate: { ...gate, rules: { ...rules, count: 2 } } })
    expect(screen.picture().at(-2)).toContain('2 rules')
  })
})

it('names the capture, where its clients connect, and that it lives', () => {
  expect(createScreen().picture()[0]).toMatch(/^ files {2}node server\.js +● live/)
  expect(hello.listening).toBeNull()
})

describe('the cursor of a line that is edited', () => {
  it.each([
    ['wide characters', '検索する言葉'],
    ['characters that are shown as several', '\u0085\u200b'],
    ['plain characters', 'abcdef'],
  ])('is on the screen in a long line of %s, wherever it stands', (_, word) => {
    for (const columns of [20, 80]) {
      const screen = createScreen({ columns })
      for (const keys of [['c', 'home'], ['N']]) {
        screen.press(...keys)
        screen.paste(word.repeat(40))
        for (let n = 0; n < 60; n += 1) {
          expect(screen.cursors()).toHaveLength(1)
          expect(screen.cursors()[0]).not.toBe('')
          screen.press('left', 'left')
        }
        screen.press('esc')
      }
    }
  })
})
