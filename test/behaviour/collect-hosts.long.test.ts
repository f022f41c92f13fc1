import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { plainEnv, wiretape } from './run-cli.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-hosts-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('collect refuses to store on a bus, from which collected segments are deleted', async () => {
  const bus = 'nats://bus.invalid'
  const { code, stderr } = await wiretape(['collect', '--from', bus, '--to', bus, '--once'], {
    env: plainEnv(),
  })
  expect(code).toBe(2)
  expect(stderr).toContain(`cannot collect to ${bus}: a bus keeps no recordings`)
})

it('status --fleet shows the lag and the refusals of hosts in a store that a collector fills', async () => {
  const env = plainEnv({ XDG_DATA_HOME: join(folder, 'data') })
  const [bus, store] = [join(folder, 'bus'), join(folder, 'store')]
  const input = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
  expect((await wiretape(['record', '--', 'cat'], { env, input })).code).toBe(0)
  expect((await wiretape(['ship', '--to', bus, '--once'], { env })).code).toBe(0)
  expect((await wiretape(['collect', '--from', bus, '--to', store, '--once'], { env })).code).toBe(0)
  const { stdout } = await wiretape(['status', '--fleet', '--at', store, '--json'], { env })
  const { hosts } = JSON.parse(stdout) as { hosts: unknown[] }
  expect(hosts).toMatchObject([{ segments: 1, lagMs: 0, shipper: { shipped: 1, refusals: 0, waiting: 0 } }])
})
