/** The state that a screen shows of itself, and the initial text of its editors. */
import { describe, expect, it } from 'vitest'
import { call, createScreen, result } from '../tui/stage.js'

const bottom = (screen: ReturnType<typeof createScreen>): string => screen.picture().at(-1)!
/** Without the count of findings, because these conversations have no handshake. */
const status = (screen: ReturnType<typeof createScreen>): string =>
  screen
    .picture()
    .at(-2)!
    .replace(/ {2}! .*/, '')
const typed = (screen: ReturnType<typeof createScreen>): unknown =>
  JSON.parse(screen.state.editor!.field.lines.join('\n'))

describe('an editor', () => {
  it('for a message of your own begins with the chosen request, under an id of ours and without its progress', () => {
    const screen = createScreen()
    const request = call(5, 'search', { query: 'cats' }) as { params: object }
    screen.message('in', { ...request, params: { ...request.params, _meta: { progressToken: 5, keep: 1 } } })
    screen.press('c')
    const wanted = {
      jsonrpc: '2.0',
      id: 'wiretape-1',
      method: 'tools/call',
      params: { name: 'search', arguments: { query: 'cats' }, _meta: { keep: 1 } },
    }
    expect(typed(screen)).toEqual(wanted)
    screen.press('esc')
    screen.message('out', result(5, 'found'), { corr: 'message-0' })
    screen.press('c')
    expect(typed(screen)).toEqual(wanted)
    screen.press('ctrl+s')
    expect(screen.effects()).toMatchObject([{ command: { type: 'inject', direction: 'client_to_server' } }])
  })

  it('for a message of your own goes the way that was asked for', () => {
    const screen = createScreen()
    screen.message('in', call(5, 'search'))
    screen.press('C')
    expect(typed(screen)).toMatchObject({ method: 'notifications/tools/list_changed' })
    screen.press('esc')
    screen.message('out', { jsonrpc: '2.0', id: 1, method: 'roots/list' })
    screen.press('c')
    expect(typed(screen)).toMatchObject({ method: 'ping' })
    screen.press('esc', 'C')
    expect(typed(screen)).toMatchObject({ id: 'wiretape-1', method: 'roots/list' })
  })

  it('says that a secret is missing in the chosen request', () => {
    const screen = createScreen()
    screen.message('in', call(5, 'login', { password: '[REDACTED]' }))
    screen.press('c')
    expect(screen.picture()[1]).toContain('give the real value for [REDACTED]')
  })

  it('for an answer begins with the last answer to such a request', () => {
    const screen = createScreen()
    screen.message('in', call(1, 'search'))
    screen.message('out', result(1, 'found'), { corr: 'message-0' })
    screen.held(call(2, 'search'))
    screen.press('a')
    expect(typed(screen)).toEqual({ result: { content: [{ type: 'text', text: 'found' }] } })
  })

  it.each([
    ['tools/call', { name: 'x' }, { content: [{ type: 'text', text: '' }] }],
    ['tools/list', {}, { tools: [] }],
    ['resources/read', { uri: 'file:///a' }, { contents: [{ uri: 'file:///a', text: '' }] }],
    ['ping', {}, {}],
  ])('for an answer begins with the shape of a result of %s', (method, params, shape) => {
    const screen = createScreen()
    screen.held({ jsonrpc: '2.0', id: 2, method, params })
    screen.press('a')
    expect(typed(screen)).toEqual({ result: shape })
  })
})

describe('the line of the state', () => {
  it('says the filter, and whether the list follows', () => {
    const screen = createScreen()
    screen.message('in', call(1, 'search'))
    screen.message('in', call(2, 'other'))
    expect(status(screen)).toBe('[PASSTHROUGH]  2 rows  following')
    screen.press('/')
    screen.type('tool:search')
    screen.press('enter')
    expect(status(screen)).toBe('[PASSTHROUGH]  1 of 2 rows  following  filter tool:search')
    screen.press('k')
    expect(status(screen)).toContain('  paused  ')
    screen.press('esc')
    expect(status(screen)).not.toContain('filter')
    screen.press('G')
    expect(status(screen)).toContain('  following')
    screen.dispatch({ type: 'phase', phase: 'ended' })
    expect(status(screen)).toBe('[PASSTHROUGH]  2 rows')
  })

  it('says of a filter that is being written, and lets nothing through, that nothing matches', () => {
    const screen = createScreen()
    screen.message('in', call(1, 'search'))
    screen.press('/')
    screen.type('tool:none')
    expect(screen.picture().join('\n')).toContain('no message matches the filter')
  })
})

describe('the keys of the last line', () => {
  it('are those that do something', () => {
    const screen = createScreen({ columns: 200 })
    expect(bottom(screen)).toMatch(/^i intercept {2}\/ filter/)
    expect(bottom(screen)).not.toMatch(/forward|drop|edit|again|answer/)
    screen.message('in', call(1, 'search'))
    expect(bottom(screen)).toContain('r again')
    screen.held(call(2, 'search'))
    screen.held(call(3, 'search'))
    expect(bottom(screen)).toMatch(/^f forward {2}d drop {2}m edit {2}a answer {2}i stop holding/)
    expect(bottom(screen)).not.toContain('r again')
    screen.press('g')
    expect(bottom(screen)).toMatch(/^h next held {2}i stop holding .*G follow .*A forward all/)
    screen.dispatch({ type: 'phase', phase: 'ended' })
    expect(bottom(screen)).not.toMatch(/forward|save|compose|again|note/)
    expect(bottom(screen)).toMatch(/\? help {2}q quit$/)
    expect(bottom(screen)).toContain('y copy')
    screen.line('{"type":"stderr","t":"2026-01-01T00:00:00.900Z","text":"ready"}')
    screen.press('G')
    expect(bottom(screen)).not.toContain('y copy')
  })

  it.each([40, 80, 200])('fit %i columns with help and quit', (columns) => {
    const screen = createScreen({ columns })
    screen.held(call(2, 'search'))
    expect(bottom(screen).length).toBeLessThanOrEqual(columns)
    expect(bottom(screen)).toMatch(/^f forward .*\? help {2}q quit$/)
  })
})

describe('a note', () => {
  const note = (text: string, more: object = {}): string =>
    JSON.stringify({ type: 'note', t: '2026-01-01T00:00:00.900Z', text, ...more })

  it('stands beside the message that it is about, and above its text', () => {
    const screen = createScreen()
    screen.message('in', call(1, 'search'))
    screen.message('in', call(2, 'other'))
    screen.line(note('odd \u001b[31m one', { about: 'message-0' }))
    const picture = screen.picture()
    expect(picture[2]).toMatch(/tools\/call search {2}note: odd/)
    expect(picture[3]).not.toContain('note')
    screen.press('g')
    expect(screen.picture().join('\n')).toContain('\nnote: odd \\u{1b}[31m one\n')
  })

  it('about nothing in particular stands at the message before it, and one before all nowhere', () => {
    const screen = createScreen()
    screen.line(note('too early'))
    screen.message('in', call(1, 'search'))
    screen.line(note('second'))
    expect(screen.picture()[2]).toMatch(/note: second/)
    expect(screen.picture().join('')).not.toContain('too early')
  })
})
