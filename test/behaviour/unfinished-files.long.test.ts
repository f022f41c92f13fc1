/** A signal that ends a command leaves no partial file behind. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { plainEnv, wiretape } from './run-cli.js'
import { cli, until } from './stage.js'

let folder = ''
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'wiretape-unfinished-'))))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const children: ChildProcess[] = []
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})

function fresh(name: string): string {
  const made = join(folder, name)
  mkdirSync(made)
  return made
}

const message = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
const endings = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Writes the first half of a file and waits. */
const writer = `
import { replaceFile } from ${JSON.stringify(resolve(import.meta.dirname, '../../dist/tape/index.js'))}
async function* halves() {
  yield Buffer.from('half')
  console.log('ready')
  await new Promise((done) => setTimeout(done, 600_000))
}
if (process.argv[1] === 'listens') {
  process.once('SIGTERM', () => setTimeout(() => process.exit(7)))
}
await replaceFile('out.json', halves())
`

function startWriter(cwd: string, ...args: readonly string[]): ChildProcess {
  const argv = ['--input-type=module', '-e', writer, ...args]
  const child = spawn(process.execPath, argv, { cwd, env: plainEnv(), stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  return child
}

describe.each(endings)('%s', (signal) => {
  it('removes an unfinished output, and keeps the existing one', async () => {
    const cwd = fresh(`output-${signal}`)
    writeFileSync(join(cwd, 'out.json'), 'before')
    const child = startWriter(cwd)
    await once(child.stdout!, 'data')
    await until('there is a copy', () => readdirSync(cwd).length === 2)
    child.kill(signal)
    expect(await once(child, 'close')).toEqual([null, signal])
    expect(readdirSync(cwd)).toEqual(['out.json'])
    expect(readFileSync(join(cwd, 'out.json'), 'utf8')).toBe('before')
  })

  it('removes the copy of stdin', async () => {
    const cwd = fresh(`stdin-${signal}`)
    const child = spawn(process.execPath, [cli, 'convert', '--to', 'csv', '-', '-'], {
      env: plainEnv({ TMPDIR: cwd }),
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    children.push(child)
    child.stdin.on('error', () => undefined)
    child.stdin.write(message)
    await until('there is a copy', () =>
      readdirSync(cwd).some((name) => readdirSync(join(cwd, name)).length > 0),
    )
    child.kill(signal)
    expect(await once(child, 'close')).toEqual([null, signal])
    expect(readdirSync(cwd)).toEqual([])
  })
})

it('a command that listens for signals itself decides how it ends', async () => {
  const child = startWriter(fresh('listens'), 'listens')
  await once(child.stdout!, 'data')
  child.kill('SIGTERM')
  expect(await once(child, 'close')).toEqual([7, null])
})

it('unfinished files of a killed command are deleted by the next command that writes there', async () => {
  const cwd = fresh('killed')
  writeFileSync(join(cwd, 'in.jsonl'), message)
  const gone = spawnSync(process.execPath, ['-e', '']).pid
  writeFileSync(join(cwd, `.out.csv.wiretape-${gone}-00000000.tmp`), 'half')
  writeFileSync(join(cwd, `.out.csv.wiretape-${process.pid}-00000000.tmp`), 'in progress')
  const elsewhere = `.out.csv.wiretape-${gone}.00000000-00000000.tmp`
  writeFileSync(join(cwd, elsewhere), 'in progress on another machine')
  expect((await wiretape(['convert', 'in.jsonl', 'out.csv'], { cwd })).code).toBe(0)
  const running = `.out.csv.wiretape-${process.pid}-00000000.tmp`
  expect(readdirSync(cwd).toSorted()).toEqual([running, elsewhere, 'in.jsonl', 'out.csv'].toSorted())
})
