import { describe, expect, it } from 'vitest'
import { widthOf } from '../../src/render/index.js'
import { call, createScreen } from './stage.js'

const schema = { type: 'object', properties: { n: { type: 'number' } } }
const tool = { name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, outputSchema: schema }

/** A session with two results that break the schema of their tool, and an argument that looks like an attack. */
function session(options: Parameters<typeof createScreen>[0] = {}): ReturnType<typeof createScreen> {
  const screen = createScreen(options)
  const ask = (id: number, request: object, result: object): void => {
    const asked = screen.message('in', { jsonrpc: '2.0', id, ...request })
    screen.message('out', { jsonrpc: '2.0', id, result }, { corr: `message-${asked}` })
  }
  const serverInfo = { name: 'srv', version: '1' }
  const opening = { protocolVersion: '2025-11-25', capabilities: {} }
  ask(
    0,
    { method: 'initialize', params: { ...opening, clientInfo: { name: 'c', version: '1' } } },
    { ...opening, capabilities: { tools: {} }, serverInfo },
  )
  screen.message('in', { jsonrpc: '2.0', method: 'notifications/initialized' })
  ask(1, { method: 'tools/list' }, { tools: [tool] })
  for (let id = 2; id < 6; id += 1)
    ask(id, call(id, 'add', id === 3 ? { path: '../../etc/passwd' } : {}), {
      content: [],
      structuredContent: { n: id % 2 === 0 ? id : 'x' },
    })
  return screen
}

describe('the list of findings', () => {
  it.each([
    { columns: 80, rows: 24 },
    { columns: 200, rows: 60 },
    { columns: 40, rows: 10 },
  ])('fits $columns x $rows, the worst first, with the chosen one in full', ({ columns, rows }) => {
    const screen = session({ columns, rows })
    screen.press('G', '!', 'g')
    const picture = screen.picture()
    expect(picture).toHaveLength(rows - 1)
    expect(picture.filter((line) => widthOf(line) > columns)).toEqual([])
    expect(picture[1]).toMatch(/^ Findings 2 errors, 1 note/)
    expect(screen.marked()).toMatch(/^ error {4}schemas\/outp/)
    expect(picture.join('\n')).toMatch(/Esc close/)
    if (rows < 24) return
    expect(picture[2]).toMatch(/^ error {4}schemas\/output +#8 /)
    expect(picture[4]).toMatch(/^ note {5}safety\/argument +#7 +an argument of add /)
    expect(picture.join('\n')).toContain('A tool result does not match the tool’s outputSchema.')
  })

  it('opens on the finding of the chosen message, and Enter goes to the message of another', () => {
    const screen = session()
    screen.press('g', 'j', 'j', 'j', 'j', 'j', 'j', 'j', '!')
    expect(screen.marked()).toMatch(/safety\/argument +#7/)
    screen.press('k', 'enter')
    expect(screen.state.found).toBeUndefined()
    expect(screen.marked()).toMatch(/result of tools\/call add.*! schemas/)
    expect(screen.picture().join('\n')).toMatch(/#12 result of tools\/call add/)
    expect(screen.picture().join('\n')).toContain('! schemas/output: ')
  })

  it('keeps the selected finding while others arrive, and closes with Esc', () => {
    const screen = session()
    screen.press('!', 'G')
    expect(screen.marked()).toContain('safety/argument')
    screen.message('out', { jsonrpc: '2.0', id: 99, result: {} })
    screen.message('out', { hello: 1 })
    expect(screen.marked()).toContain('safety/argument')
    expect(screen.picture()[1]).toContain('3 errors')
    screen.press('esc')
    expect(screen.picture().join('\n')).toContain('! 3 errors')
    expect(screen.picture().join('\n')).not.toContain('Findings')
  })

  it('takes a filter away that hides the message', () => {
    const screen = session()
    screen.press('/')
    screen.type('method:initialize')
    screen.press('enter', '!', 'g', 'enter')
    expect(screen.state.filterText).toBe('')
    expect(screen.marked()).toMatch(/result of tools\/call add.*! schemas/)
    expect(screen.picture().join('\n')).toContain('filter removed, because it hid this message')
  })

  it('can be asked for by a filter, which has no place in a breakpoint', () => {
    const screen = session()
    screen.press('/')
    screen.type('level:error')
    screen.press('enter')
    expect(screen.picture().join('\n')).toContain('2 of 13 rows')
    screen.press('esc', 'b', 'ctrl+u')
    screen.type('finding:*')
    screen.press('enter')
    expect(screen.picture().join('\n')).toContain('finding: and level: need')
    expect(screen.effects()).toEqual([])
  })

  it('says that there is nothing, and what only the end tells', () => {
    const screen = createScreen()
    screen.press('!')
    expect(screen.picture()[1]).toBe(' Findings no findings so far')
    screen.press('enter', 'j', 'G', 'esc')
    const open = session()
    open.message('in', call(9, 'add'))
    open.press('!', 'G')
    expect(open.marked()).toContain('safety/argument')
    expect(open.log.releaseAll()).toEqual([13])
    open.press('G')
    expect(open.marked()).toContain('protocol/unanswered')
  })
})
