/** `wiretape ls` prints file names; each command that takes a recording finds it by such a name. */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createStage, printed, server, type Stage } from '../behaviour/stage.js'
import { cli } from '../behaviour/stage.js'
import { fixtures, plainEnv, wiretape } from '../behaviour/run-cli.js'

const folder = mkdtempSync(join(os.tmpdir(), 'wiretape-names-'))
const data = join(folder, 'data')
const recordings = join(data, 'wiretape', 'recordings')
const cwd = join(folder, 'elsewhere')
const env = plainEnv({ XDG_DATA_HOME: data, HOME: folder })
const name = 'faultless.jsonl'

let stage: Stage
beforeAll(() => {
  stage = createStage()
  mkdirSync(recordings, { recursive: true })
  mkdirSync(cwd)
  copyFileSync(join(fixtures, name), join(recordings, name))
  copyFileSync(join(fixtures, 'cut-off.jsonl'), join(recordings, 'cut-off.jsonl'))
  copyFileSync(
    resolve(import.meta.dirname, '../fixtures/http-transcript/http-sse.json'),
    join(recordings, 'transcript.json'),
  )
})
afterAll(async () => {
  await stage.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = (line: string) => wiretape(line.split(' '), { env, cwd })

describe('a file name of the data folder', () => {
  it.each([
    `inspect ${name}`,
    `inspect ${name} --check`,
    `convert ${name} out.har`,
    `diff ${name} ${name}`,
    `recover cut-off.jsonl copy.jsonl`,
    `import transcript.json --out-trace trace.jsonl`,
    `proxy inspect --session-file ${name}`,
    `proxy export --session-file ${name} --output exported.json`,
  ])('wiretape %s', async (line) => {
    const { code, stderr } = await run(line)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.not.stringContaining('cannot read') })
  })

  it('is what replay, proxy replay and mock take too', async () => {
    const echo = server('mini-mcp.mjs')
    const replayed = await wiretape(['replay', name, '--', ...echo], { env, cwd })
    expect(replayed.stdout).toContain('Replaying')
    const target = ['--target-command', echo.join(' ')]
    const proxied = await wiretape(['proxy', 'replay', '--session-file', name, ...target], { env, cwd })
    expect(proxied.stdout).toContain('Results: ')
    expect(await run(`mock ${name}`)).toMatchObject({ code: 0 })
  })

  it('is what ui takes too', async () => {
    const viewer = stage.start([process.execPath, cli, 'ui', name, '--no-open'], { env, cwd })
    await printed(viewer, 'viewer: http')
    viewer.child.kill('SIGINT')
    expect(await viewer.ended).toMatchObject({ exitCode: 0 })
  })

  it('gives way to a file of the working directory', async () => {
    const own = readFileSync(join(fixtures, 'another.jsonl'))
    writeFileSync(join(cwd, 'twice.jsonl'), own)
    copyFileSync(join(fixtures, name), join(recordings, 'twice.jsonl'))
    const [here, there] = await Promise.all([
      run('inspect twice.jsonl'),
      wiretape(['inspect', 'another.jsonl'], { env }),
    ])
    expect(here).toEqual(there)
  })

  it('is no name for an output', async () => {
    await run(`convert ${name} twice-more.jsonl`)
    expect(existsSync(join(cwd, 'twice-more.jsonl'))).toBe(true)
    expect(await run(`inspect elsewhere/${name}`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`cannot read elsewhere/${name}: no such file`),
    })
  })
})
