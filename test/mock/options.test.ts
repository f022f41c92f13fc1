import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { tapeOf } from '../compare/stage.js'
import { mock, type MockOptions } from '../../src/mock/index.js'

const folder = mkdtempSync(join(tmpdir(), 'wiretape-mock-options-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('mock() of the library', () => {
  it.each([
    [{ listen: { port: 99_999 } }, /listen\.port/],
    [{ listen: { port: '80' } }, /listen\.port/],
    [{ transport: 'stdio' }, /transport/],
    [{ fallback: [] }, /fallback/],
    [{ fallback: 'node server.js' }, /fallback/],
    [{ fallback: ['x'], record: { what: 'some', out: 'x' } }, /record\.what/],
    [{ fallback: ['x'], record: { what: 'new' } }, /record\.out/],
    [{ record: { what: 'new', out: 'x' } }, /needs a real server/],
    [{ pace: 'slowly' }, /slowly/],
    [{ pace: 4 }, /pace/],
    [{ port: 80 }, /unknown option port/],
    [{ listen: { prot: 80 } }, /unknown option listen\.prot/],
    [{ listen: 80 }, /listen/],
    [{ repeatLast: 'yes' }, /repeatLast/],
    [{ rules: 1 }, /rules/],
    [{ streams: {} }, /streams/],
    [{ onMiss: 'x' }, /onMiss/],
    [{ errorOutput: 'x' }, /errorOutput/],
    ['x', /must be an object/],
  ])('refuses %j', async (options, message) => {
    const tape = join(folder, 'talk.jsonl')
    writeFileSync(tape, tapeOf([{ method: 'ping', result: {} }]))
    await expect(mock(tape, options as unknown as MockOptions)).rejects.toMatchObject({
      name: 'WiretapeError',
      code: 'usage',
      message: expect.stringMatching(message),
    })
  })
})
