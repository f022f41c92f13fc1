import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createStage, printed, readIfThere, server, until, type Actor, type Stage } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

let stage: Stage
let sent: string
let count: number
beforeEach(() => {
  stage = createStage()
  sent = ''
  count = 0
})
afterEach(() => stage.close())

/** Sends messages to a server that echoes them and waits for the last echo. */
async function converse(recorder: Actor, messages: number): Promise<void> {
  let batch = ''
  for (let i = 0; i < messages; i += 1, count += 1) {
    batch += `{"jsonrpc":"2.0","method":"n","params":{"n":${count},"pad":"${'x'.repeat(400)}"}}\n`
  }
  sent += batch
  await recorder.send(batch)
  await printed(recorder, `"n":${count - 1},`)
}

async function finish(recorder: Actor): Promise<string> {
  recorder.stdin.end()
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  expect(recorder.stdout().toString()).toBe(sent)
  return recorder.stderr().toString()
}

interface Counted {
  readonly recorded: number
  readonly lost: number
  readonly gaps: Line[]
  readonly types: (string | undefined)[]
}

/** Counts the lines of all tapes; throws if a line is incomplete. */
function countTapes(): Counted {
  const lines = stage.tapes().flatMap((path) => linesOfTape(path))
  const gaps = lines.filter(({ type }) => type === 'gap')
  return {
    recorded: lines.filter(({ type }) => type === undefined).length,
    lost: gaps.reduce((sum, { lost }) => sum + lost, 0),
    gaps,
    types: lines.map(({ type }) => type),
  }
}

const echo = (): Actor => stage.start(stage.record(server('echo-lines.mjs')))

/** A disk of 1 MB for the tapes. False if this system does not allow mounting one. */
function mountSmallDisk(): boolean {
  mkdirSync(stage.out)
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', stage.out]).status === 0
}

const canMount = (() => {
  stage = createStage()
  const mounted = mountSmallDisk()
  if (mounted) spawnSync('umount', [stage.out])
  rmSync(stage.folder, { recursive: true })
  return mounted
})()
if (!canMount) process.stderr.write('left out: the tests of a full disk, which need to mount a small one\n')

describe.skipIf(!canMount)('on a disk that is full', () => {
  beforeEach(() => {
    expect(mountSmallDisk()).toBe(true)
  })
  afterEach(() => {
    spawnSync('umount', ['-l', stage.out])
  })

  it('traffic goes on unharmed, and the tape counts the missing messages', async () => {
    const recorder = echo()
    for (let i = 0; i < 20; i += 1) await converse(recorder, 100)
    const said = await finish(recorder)
    const { recorded, lost, gaps, types } = countTapes()
    expect(recorded).toBeGreaterThan(1000)
    expect(lost).toBeGreaterThan(1000)
    expect(recorded + lost).toBe(2 * count)
    expect(gaps[0]).toMatchObject({ why: 'disk full' })
    expect(types.at(-1)).toBe('end')
    expect(said).toMatch(/^wiretape: disk full: recording stops [^\n]+\nwiretape: [^\n]+\n$/)
    expect(said).toContain(`${lost.toLocaleString('en-US')} messages passed unrecorded: disk full`)
    expect(said).toContain(stage.tape())
  })

  it('recording goes on when there is room again', async () => {
    const { bavail, bsize } = statfsSync(stage.out)
    const filler = `${stage.out}/filler`
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 300_000))
    const recorder = echo()
    await until('the disk is full', async () => {
      await converse(recorder, 100)
      const [tape] = readdirSync(stage.out).filter((name) => name.endsWith('.jsonl'))
      return readIfThere(`${stage.out}/${tape}`).includes('"type":"gap"')
    })
    rmSync(filler)
    const before = count
    await until('it records again', async () => {
      await converse(recorder, 10)
      return new RegExp(`"n":(?:${before + 10}|${count - 10}),`).test(readFileSync(stage.tape(), 'utf8'))
    })
    const said = await finish(recorder)
    const { recorded, lost, types } = countTapes()
    expect(recorded + lost).toBe(2 * count)
    expect(types.lastIndexOf(undefined)).toBeGreaterThan(types.lastIndexOf('gap'))
    expect(types.at(-1)).toBe('end')
    expect(said).toMatch(
      /^wiretape: disk full: recording stops until there is room, all messages pass\nwiretape: \d[\d,]* messages? passed unrecorded: [^\n]+\n$/,
    )
  })

  it('from the start, no server is started', async () => {
    const { bavail, bsize } = statfsSync(stage.out)
    writeFileSync(`${stage.out}/filler`, Buffer.alloc(bavail * bsize))
    const started = `${stage.folder}/started`
    const recorder = stage.start(stage.record(['mkdir', started]))
    expect((await recorder.ended).exitCode).toBe(1)
    expect(recorder.stdout()).toHaveLength(0)
    expect(existsSync(started)).toBe(false)
    expect(recorder.stderr().toString()).toMatch(
      /^wiretape: cannot create a tape in [^\n]+: disk full [^\n]+\n$/,
    )
    expect(readdirSync(stage.out)).toEqual(['filler'])
  })
})

describe.each([
  ['tape', () => rmSync(stage.tape())],
  ['folder of the tape', () => rmSync(stage.out, { recursive: true })],
] as const)('when the %s is deleted', (_, remove) => {
  it('traffic goes on unharmed, later messages are recorded, and the tape counts the missing ones', async () => {
    const recorder = echo()
    await converse(recorder, 50)
    await until('it is on the tape', () => readFileSync(stage.tape(), 'utf8').split('"n":49,').length === 3)
    remove()
    await converse(recorder, 50)
    const said = await finish(recorder)
    const [meta] = linesOfTape(stage.tape())
    expect(meta).toMatchObject({ wiretape: { segment: 1 } })
    const { recorded, lost, types } = countTapes()
    expect([recorded, lost]).toEqual([100, 100])
    expect(types.slice(0, 2)).toEqual(['meta', 'gap'])
    expect(types.at(-1)).toBe('end')
    expect(said).toMatch(/^wiretape: 100 messages passed unrecorded: [^\n]*removed[^\n]*\n$/)
    expect(said).toContain(stage.tape())
  })

  it('and no message follows, the end line is still written', async () => {
    const recorder = echo()
    await converse(recorder, 50)
    await until('it is on the tape', () => readFileSync(stage.tape(), 'utf8').split('"n":49,').length === 3)
    remove()
    const said = await finish(recorder)
    expect(countTapes()).toMatchObject({ recorded: 0, lost: 100, types: ['meta', 'gap', 'end'] })
    expect(said).toMatch(/^wiretape: 100 messages passed unrecorded: [^\n]+\n$/)
  })
})

it('traffic goes on without a tape that cannot be created again, with a message', async () => {
  const recorder = echo()
  await converse(recorder, 10)
  await until('it is on the tape', () => readFileSync(stage.tape(), 'utf8').split('"n":9,').length === 3)
  rmSync(stage.out, { recursive: true })
  writeFileSync(stage.out, 'in the way')
  await converse(recorder, 10)
  const said = await finish(recorder)
  expect(said).toMatch(/^wiretape: 40 messages passed unrecorded: [^\n]+\n$/)
  expect(readFileSync(stage.out, 'utf8')).toBe('in the way')
  rmSync(stage.out)
})
