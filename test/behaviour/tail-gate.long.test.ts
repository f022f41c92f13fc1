import { chownSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach, socketOf } from './attach.js'
import { leftOut, run } from './run-cli.js'
import { kill, printed, until } from './stage.js'
import { ping } from './mini-talk.js'
import { call, tail, useTail } from './tail-stage.js'

const isNobody = leftOut(process.getuid?.() === 0, "another user's sockets: only root can be two users")

const { stage, record } = useTail()

describe('tail', () => {
  it('prints the lines of the tape unchanged with --json, only new ones with --new', async () => {
    const recorder = await record()
    const odd = '{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping","n":1.0,"n":2}'
    await recorder.send(ping('before'))
    await until('it is answered', () => recorder.stdout().includes('before'))
    const screen = await attach(stage)
    await until('it is on the tape', () => screen.records().length === 3)
    const tailing = stage.start(tail('--new', '--json'))
    await printed(tailing, '"type":"meta"')
    await recorder.send(`${odd}\n`)
    await printed(tailing, '"dir":"out"')
    const text = tailing.stdout().toString()
    expect(text).toContain(`"raw":${odd},`)
    expect(text).not.toContain('before')
  })

  it('shows held messages and their outcome', async () => {
    const recorder = await record('--break', 'tool:echo is:request')
    const screen = await attach(stage)
    const tailing = stage.start(tail())
    await recorder.send(call(1, 'echo'))
    await printed(tailing, '→ tools/call echo · held')
    const { message } = await screen.held()
    await screen.tell({ type: 'forward', message })
    await printed(tailing, '← result of #0 tools/call echo')
    await recorder.send(call(2, 'echo'))
    await screen.tell({ type: 'drop', message: (await screen.held(2))['message'] })
    await printed(tailing, '→ tools/call echo · dropped')
  })

  it('says when no capture runs, or none of that name', async () => {
    const options = { cwd: stage.folder, env: stage.env }
    const none = await run(tail(), options)
    expect(none).toMatchObject({ code: 2, stdout: '' })
    expect(none.stderr).toMatch(/^wiretape: no capture is live .*\n$/)
    await record()
    const other = await run(tail('other'), options)
    expect(other.code).toBe(2)
    expect(other.stderr).toMatch(/^wiretape: no live capture has the name "other" .*mini.*\n$/)
    const filter = await run(tail('--filter', 'tool:('), options)
    expect(filter.code).toBe(2)
    expect(filter.stderr).toMatch(/^wiretape: --filter, column \d+: .*\n$/)
  })

  it('says so when the capture was killed', async () => {
    const recorder = await record()
    const tailing = stage.start(tail())
    await printed(tailing, 'what')
    kill(recorder.pid)
    expect(await tailing.ended).toMatchObject({ exitCode: 1 })
    expect(tailing.stderr().toString()).toMatch(/^wiretape: the capture has ended .*\n$/)
  })
})

describe.skipIf(isNobody)("another user's socket", () => {
  it('is not connected to, and another user cannot connect to ours', async () => {
    const recorder = await record()
    const socket = await socketOf(stage)
    const connect = `require('net').connect(process.argv[1]).on('error', (e) => console.log(e.code)).on('connect', () => console.log('in'))`
    const other = stage.start([process.execPath, '-e', connect, socket], {
      uid: 65_534,
      gid: 65_534,
      cwd: '/',
    })
    await printed(other, '\n')
    expect(other.stdout().toString()).toMatch(/^(EACCES|EPERM)\n$/)
    chownSync(socket, 65_534, 65_534)
    const { code, stderr } = await run(tail(), { env: stage.env })
    expect(code).toBe(2)
    expect(stderr).toContain('its socket is missing or not yours')
    expect(stderr.trim().split('\n')).toHaveLength(1)
    await recorder.send(ping(1))
    await printed(recorder, '"id":1')
  })
})
