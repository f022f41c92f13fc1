import { expect, it } from 'vitest'
import { call, createScreen, result } from './stage.js'

it("a call of a tool that requests input from the client shows the server's latency, and the client's waiting time", () => {
  const screen = createScreen({ columns: 100, rows: 40 })
  screen.event({ type: 'live' })
  const asks = screen.message('in', call(1, 'pay'), { us: 0 })
  const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'Sure?' } }
  const asked = screen.message('out', question, { us: 500_000 })
  screen.message(
    'in',
    { jsonrpc: '2.0', id: 'q', result: { action: 'accept' } },
    {
      us: 8_500_000,
      corr: `message-${asked}`,
    },
  )
  screen.message('out', result(1, 'paid'), { us: 9_200_000, corr: `message-${asks}` })
  expect(screen.marked()).toMatch(/result of tools\/call pay .* 1\.2 s /)
  screen.press('enter')
  expect(screen.picture().join('\n')).toMatch(
    /#3 result of tools\/call pay {2}1\.2 s, plus 8\.0 s waiting for the client/,
  )
})
