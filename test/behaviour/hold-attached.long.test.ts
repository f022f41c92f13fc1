import { mkdirSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attach, socketOf } from './attach.js'
import { answers, answerTo, call, isMessage, ping, useMini } from './mini-talk.js'
import { printed, settled, until, writtenBytes } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

const { stage, record, end } = useMini()

describe('an attached client of a capture', () => {
  it('can start at a message number', async () => {
    const recorder = record()
    for (const id of [1, 2, 3]) {
      await recorder.send(ping(id))
      await answerTo(recorder, id)
    }
    const onlooker = await attach(stage, { role: 'onlooker', from: 4 })
    await onlooker.event('it is up to date', ({ type }) => type === 'live')
    await until('all is told', () => onlooker.records().some((line) => line['seq'] === 5))
    expect(onlooker.records().map((line) => line['seq'])).toEqual([undefined, 4, 5])
    expect(onlooker.records()[0]).toMatchObject({ type: 'meta' })
  })

  it('cannot decide if it is an onlooker', async () => {
    record()
    const onlooker = await attach(stage, { role: 'onlooker' })
    const reply = await onlooker.ask({ type: 'hold', on: true })
    expect(reply).toMatchObject({ ok: false, error: { code: 'not-a-screen' } })
  })

  it('is refused with another version of the protocol or an invalid hello, and the capture goes on', async () => {
    const recorder = record()
    const firsts = {
      '{"type":"hello","protocol":99,"role":"screen"}\n': 'uses version 1 of the control protocol, not 99',
      '{"type":"hello","protocol":2,"role":"director"}\n': 'uses version 1 of the control protocol, not 2',
      '{"type":"hello","protocol":1,"role":"director"}\n': 'invalid hello: role: ',
      '{"type":"hello","protocol":"1","role":"screen"}\n': 'invalid hello: protocol: ',
      'GET / HTTP/1.1\r\n\r\n': 'the first line must be a hello',
    }
    for (const [first, why] of Object.entries(firsts)) {
      const socket = net.connect(await socketOf(stage))
      let said = ''
      socket.on('data', (chunk) => (said += String(chunk)))
      socket.write(first)
      await new Promise((done) => socket.once('close', done))
      expect(said).toContain('"type":"refused"')
      expect(said).toContain(why)
    }
    await recorder.send(ping(1))
    await answerTo(recorder, 1)
  })

  it('is one of at most 256; the next one gets the reason', async () => {
    const recorder = record()
    const path = await socketOf(stage)
    const sockets: net.Socket[] = []
    const firstLine = async (): Promise<string> => {
      const socket = net.connect(path)
      sockets.push(socket)
      let said = ''
      socket.on('data', (chunk) => (said += String(chunk)))
      return until('it says something', () => /^.*\n/.exec(said)?.[0])
    }
    for (let n = 0; n < 256; n += 1) expect(await firstLine()).toContain('"type":"hello"')
    expect(JSON.parse(await firstLine())).toEqual({
      type: 'refused',
      code: 'full',
      message: '256 programs are already attached, which is the limit',
    })
    for (const socket of sockets) socket.destroy()
    // One client has left, so the next is accepted.
    await until('somebody is taken again', async () => (await firstLine()).includes('"type":"hello"'))
    for (const socket of sockets) socket.destroy()
    await recorder.send(ping(1))
    await answerTo(recorder, 1)
  })
})

describe('a held message', () => {
  it('delays everything behind it with --hold-order fifo', async () => {
    const recorder = record('--break', 'dir:in id:1', '--hold-order', 'fifo')
    const screen = await attach(stage)
    await recorder.send(ping(1) + ping(2) + ping(3))
    const held = await screen.held()
    await screen.held(3)
    await screen.tell({ type: 'forward', message: held['message'] })
    await answerTo(recorder, 3)
    expect(answers(recorder).map(({ id }) => id as unknown)).toEqual([1, 2, 3])
  })

  it('cannot be changed into text that is not JSON-RPC, nor into an internal mark', async () => {
    const recorder = record('--break', 'tool:echo is:request')
    const screen = await attach(stage)
    await recorder.send(call(1, 'echo', { text: 'x' }))
    const { message, text } = await screen.held()
    const refusals: [string, string, RegExp][] = [
      ['{"jsonrpc":"2.0",\n "id":1,}', 'invalid', /^not valid JSON: .* line 2, column /],
      ['{"id":1,"method":"ping"}', 'invalid', /^not JSON-RPC: "jsonrpc" is not "2.0"/],
      ['[]', 'invalid', /^not JSON-RPC/],
      [
        '{"jsonrpc":"2.0","id":1,"result":{}}',
        'invalid',
        /^the message would be a response instead of a request/,
      ],
      [
        '{"jsonrpc":"2.0","method":"ping"}',
        'invalid',
        /^the message would be a notification instead of a request/,
      ],
      [`[${text}]`, 'invalid', /one message/],
      [text.replace('"x"', '"[REDACTED]"'), 'redacted', /\[REDACTED\]/],
    ]
    for (const [typed, code, words] of refusals) {
      const reply = await screen.ask({ type: 'edit', message, text: typed })
      expect(reply).toMatchObject({ ok: false, error: { code, message: expect.stringMatching(words) } })
    }
    // The message is still held. Line breaks of the edit are removed, because stdio cannot have them.
    await screen.tell({ type: 'edit', message, text: JSON.stringify(JSON.parse(text), null, 2) })
    expect(await answerTo(recorder, 1)).toMatchObject({ result: { content: [{ text: 'x' }] } })
    expect(await screen.ask({ type: 'forward', message })).toMatchObject({ error: { code: 'not-held' } })
  })

  it('goes on after --hold-timeout', async () => {
    const recorder = record('--intercept', '--hold-timeout', '50ms')
    await recorder.send(ping(1))
    await answerTo(recorder, 1)
    expect((await end(recorder)).filter(isMessage)).toMatchObject([
      { heldMs: expect.any(Number) },
      { heldMs: expect.any(Number) },
    ])
  })
})

describe('holding', () => {
  it('waits for a screen with --wait-for-attach, then holds only messages that a breakpoint matches', async () => {
    const recorder = record('--wait-for-attach', '--break', 'method:tools/call is:request')
    await recorder.send(ping(1) + call(2, 'echo', { text: 'x' }))
    const screen = await attach(stage)
    await answerTo(recorder, 1)
    const held = await screen.held()
    expect(JSON.parse(held['text'])).toMatchObject({ id: 2 })
    await screen.tell({ type: 'forward-all' })
    await answerTo(recorder, 2)
  })

  it.each(['--intercept', '--wait-for-attach'])(
    'does not begin with %s where no screen can attach',
    async (option) => {
      const folder = join(stage.env['XDG_DATA_HOME']!, 'wiretape')
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'live'), 'a file where a folder is wanted')
      const recorder = record(option)
      await recorder.send(ping(1))
      await answerTo(recorder, 1)
      const lines = await end(recorder)
      expect(lines.find(({ type }) => type === 'note')?.['text']).toContain('no screen could attach')
      expect(recorder.stderr().toString()).toContain('wiretape: no message was held: no screen could attach')
    },
  )

  it('does not begin for a screen that detaches right after its request', async () => {
    const recorder = record()
    const path = await socketOf(stage)
    // The first message loads the gate; the others find it loaded.
    for (const id of [1, 2, 3, 4]) {
      const socket = net.connect(path)
      const closed = new Promise((done) => socket.once('close', done))
      socket.resume()
      socket.end('{"type":"hello","protocol":1,"role":"screen"}\n{"type":"hold","id":1,"on":true}\n')
      await closed
      await recorder.send(ping(id))
      await answerTo(recorder, id)
    }
    const onlooker = await attach(stage, { role: 'onlooker' })
    expect(await onlooker.event('its state', ({ type }) => type === 'state')).toMatchObject({
      state: { hold: false, held: 0, screens: 0 },
    })
  })

  it('drops held messages when the last screen detaches with --on-detach drop', async () => {
    const recorder = record('--break', 'id:1', '--on-detach', 'drop')
    const screen = await attach(stage)
    await recorder.send(ping(1))
    await screen.held()
    screen.close()
    await recorder.send(ping(2))
    await answerTo(recorder, 2)
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({
      why: 'the last screen was detached',
    })
    expect(answers(recorder).map(({ id }) => id as unknown)).toEqual([2])
  })

  it('begins and ends between two messages, at any split of their bytes', async () => {
    const recorder = record()
    const screen = await attach(stage)
    const text = ping(1)
    const before = await settled(() => writtenBytes(recorder.pid))
    await recorder.send(text.slice(0, 20))
    await until('it is passed on', () => writtenBytes(recorder.pid) >= before + 20)
    await screen.tell({ type: 'hold', on: true })
    await recorder.send(text.slice(20) + ping(2).slice(0, 10))
    // The first message had already passed; its response is held.
    const answer = await screen.held()
    expect(answer).toMatchObject({ direction: 'server_to_client' })
    await screen.tell({ type: 'hold', on: false })
    await answerTo(recorder, 1)
    await recorder.send(ping(2).slice(10) + ping(3))
    await answerTo(recorder, 3)
    const lines = await end(recorder)
    expect(lines.filter((line) => isMessage(line) && line['dir'] === 'in')).toMatchObject([
      { raw: { id: 1 } },
      { raw: { id: 2 } },
      { raw: { id: 3 } },
    ])
  })
})

describe('an injected message', () => {
  it('is sent to the client', async () => {
    const recorder = record()
    const screen = await attach(stage)
    const text = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
    await screen.tell({ type: 'inject', direction: 'server_to_client', text })
    await printed(recorder, `${text}\n`)
  })

  it('cannot have the id of a pending request', async () => {
    const recorder = record()
    const screen = await attach(stage)
    await recorder.send(call(5, 'slow', { ms: 60_000 }))
    await until('it is told', () => screen.records().some(isMessage))
    const text = call('5', 'echo', { text: 'mine' }).trim().replace('"5"', '5.0')
    const inject = { type: 'inject', direction: 'client_to_server', text }
    expect(await screen.ask(inject)).toMatchObject({ error: { code: 'invalid' } })
    const { answer } = await screen.tell({ ...inject, text: text.replace('5.0', '6') })
    expect(JSON.parse(answer as string)).toMatchObject({ id: 6 })
    expect(answers(recorder)).toEqual([])
    screen.close()
  })

  it('can concern a held message as soon as the screen is told of it', async () => {
    const recorder = record()
    const screen = await attach(stage)
    await screen.tell({ type: 'hold', on: true })
    for (let n = 1; n <= 20; n += 1) {
      await recorder.send(call(n, 'add', { a: n, b: 1 }))
      const { message } = await screen.held(n)
      await screen.tell({ type: 'annotate', text: 'seen', message })
      await screen.tell({ type: 'drop', message })
    }
  })

  it('requests no progress when it is sent again, since the peer never requested that progress', async () => {
    const recorder = record()
    const params = { name: 'progress', arguments: { steps: 2 }, _meta: { 'a.b/c': 1.5, progressToken: 7 } }
    await recorder.send(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })}\n`)
    await answerTo(recorder, 1)
    const screen = await attach(stage)
    await until('it is told', () => screen.records().some(isMessage))
    const before = answers(recorder).length
    const message = screen.records().find(isMessage)!['id']
    const again = await screen.tell({ type: 'replay', message })
    expect(JSON.parse(again['sent'])['params']['_meta']).toEqual({ 'a.b/c': 1.5 })
    expect(JSON.parse(again['answer'])).toHaveProperty('result')
    // Messages before the response have been forwarded.
    await recorder.send(ping(2))
    await answerTo(recorder, 2)
    expect(JSON.stringify(answers(recorder).slice(before))).not.toContain('progressToken')
  })

  it('that was edited is sent again as edited; one that was dropped, as it came', async () => {
    const recorder = record('--break', 'tool:add dir:in')
    const screen = await attach(stage)
    await recorder.send(call(1, 'add', { a: 1, b: 2 }))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"a":1', '"a":10') })
    await answerTo(recorder, 1)
    const isAgain = (line: Line): boolean => line['id'] === message && line['modified'] === true
    await until('it is on the tape', () => screen.records().some(isAgain))
    const again = await screen.tell({ type: 'replay', message })
    expect(JSON.parse(again['answer'])).toMatchObject({ result: { content: [{ text: '12' }] } })
    await recorder.send(call(2, 'add', { a: 3, b: 4 }))
    const dropped = (await screen.held(2))['message']
    await screen.tell({ type: 'drop', message: dropped })
    const late = await screen.tell({ type: 'replay', message: dropped })
    expect(JSON.parse(late['answer'])).toMatchObject({ result: { content: [{ text: '7' }] } })
  })
})

describe('at the end', () => {
  it('the end of the input waits for held messages while a screen is attached', async () => {
    const recorder = record('--break', 'dir:in')
    const screen = await attach(stage)
    recorder.stdin.end(ping(1))
    const { message } = await screen.held()
    await screen.event('it is moot', ({ type, moot }) => type === 'held-changed' && moot !== undefined)
    await screen.tell({ type: 'forward', message })
    expect(await recorder.ended).toMatchObject({ exitCode: 0 })
    expect(answers(recorder)).toMatchObject([{ id: 1 }])
    await screen.event('it ends', ({ type }) => type === 'ended')
  })

  it('a screen can end the session', async () => {
    const recorder = record()
    const screen = await attach(stage)
    await screen.tell({ type: 'stop' })
    await recorder.ended
    expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({ type: 'end', exitCode: 143 })
  })
})
