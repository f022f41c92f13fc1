import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { mock, readRecording, record, replay } from '../../src/index.js'
import { call, tapeOf } from '../compare/stage.js'
import { writeFileSync } from 'node:fs'
import { server } from './stage.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-library-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the library', () => {
  it('replays over HTTP against a mock through a recorder, and the new recording is the same', async () => {
    const first = join(folder, 'first.jsonl')
    const opening = {
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'c', version: '1' } },
      result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 's', version: '1' } },
    }
    writeFileSync(first, tapeOf([opening, call('a', { x: 1 }, 'one'), call('b', {}, 'two')]))
    const upstream = await mock(first)
    const recorder = await record({ url: upstream.url, file: join(folder, 'second.jsonl') })
    const result = await replay(first, { url: recorder.url! })
    expect(result).toMatchObject({ same: true, differences: [], counts: { same: 3 } })
    const second = await recorder.close()
    await upstream.close()
    const texts: (string | undefined)[] = []
    for await (const { request, answer } of (await readRecording(second)).exchanges())
      texts.push(`${request.name} ${answer?.text.includes('two')}`)
    expect(texts).toEqual(['undefined false', 'a false', 'b true'])
  })

  it('reads messages with their exact text', async () => {
    const path = join(folder, 'exact.jsonl')
    writeFileSync(path, tapeOf([call('a', { n: 1 }, 'x')]).replace('"n":1', '"n":1.00'))
    const recording = await readRecording(path)
    expect(recording).toMatchObject({ format: 'trace-v1', problems: [], counts: { requests: 1, results: 1 } })
    const messages = []
    for await (const message of recording.messages()) messages.push(message)
    expect(messages[0]).toMatchObject({
      seq: 0,
      direction: 'client_to_server',
      kind: 'request',
      name: 'a',
      id: '0',
    })
    expect(messages[0]!.text).toContain('1.00')
    expect(messages[1]!.payload()).toMatchObject({ id: 0, result: {} })
  })

  it('reports errors in one line', async () => {
    const path = join(folder, 'any.jsonl')
    writeFileSync(path, tapeOf([call('a', {}, 'x')]))
    await expect(replay(path, { command: ['./no-such-server'] })).rejects.toThrow('no such program')
    await expect(replay(path, { url: 'ftp://x' })).rejects.toThrow('not an http or https URL')
    await expect(replay(path, { command: ['node'] }, { match: { '$.a': 'soon' } })).rejects.toThrow(
      'unknown matcher: soon',
    )
    await expect(readRecording(join(folder, 'none.jsonl'))).rejects.toThrow('no such file')
    await expect(record({ url: 'nonsense', file: join(folder, 'x.jsonl') })).rejects.toThrow(
      'the option url is invalid',
    )
  })

  it.each([
    [{ file: 'x' }, 'exactly one of the options command and url is needed'],
    [
      { file: 'x', command: ['node'], url: 'http://x' },
      'exactly one of the options command and url is needed',
    ],
    [{ command: ['node'] }, 'option file'],
    [{ command: 'node', file: 'x' }, 'option command'],
    [{ command: ['node'], file: 'x', redact: 'x' }, 'unknown option redact'],
    [{ command: ['node'], file: 'x', options: '--redact' }, 'option options'],
    [undefined, 'must be an object'],
  ])('does not record %j', async (what, message) => {
    await expect(record(what as unknown as Parameters<typeof record>[0])).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
    })
  })

  it('takes a path for a recording, and nothing else', async () => {
    for (const path of [undefined, '', 1] as unknown as string[]) {
      const usage = { name: 'WiretapeError', code: 'usage' }
      await expect(readRecording(path)).rejects.toMatchObject(usage)
      await expect(mock(path)).rejects.toMatchObject(usage)
      await expect(replay(path, { command: ['x'] })).rejects.toMatchObject(usage)
    }
  })

  it('ends when it is aborted, and reports the messages that were not sent', async () => {
    const path = join(folder, 'hang.jsonl')
    writeFileSync(path, tapeOf([call('search', {}, 'x'), call('open', {}, 'x')]))
    const abort = new AbortController()
    const running = replay(path, { command: server('release.mjs', 'hang') }, { signal: abort.signal })
    setTimeout(() => abort.abort(), 300)
    expect(await running).toMatchObject({
      same: false,
      stopped: 'interrupted',
      counts: { 'not sent': expect.any(Number) },
    })
  })
})
