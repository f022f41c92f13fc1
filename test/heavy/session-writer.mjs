// @ts-check
/** Appends to a tape while its session file is saved again and again. Usage: … TAPE SESSION_FILE */
import { appendFileSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { createSessionSaver } from '../../dist/capture/session-saver.js'

const [tape = '', target = ''] = process.argv.slice(2)
const meta = {
  v: 1,
  type: 'meta',
  startedAt: '2026-01-01T00:00:00.000Z',
  label: 'written',
  command: ['server'],
  wiretape: {
    version: '0.0.0',
    session: '11111111-1111-4111-8111-111111111111',
    transport: 'stdio',
    url: null,
    segment: 0,
    redaction: 'none',
    metadata: {},
  },
}
writeFileSync(tape, `${JSON.stringify(meta)}\n`)
createSessionSaver({ target, tape, pauseMs: 1, pauseFactor: 0 })
process.stdout.write('writing\n')
for (let n = 0; ; n += 1) {
  const raw = { jsonrpc: '2.0', id: n, method: 'ping', params: { text: 'x'.repeat(200) } }
  const line = { t: '2026-01-01T00:00:01.000Z', dir: 'in', raw, id: `id-${n}`, seq: n, us: n }
  appendFileSync(tape, `${JSON.stringify(line)}\n`)
  if (n % 10 === 0) await setTimeout(1)
}
