import {
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
import { isLong } from '../long.js'
import { useStage } from './stage.js'

const stage = useStage()
const pipesFolder = (): string => stage.path('data/wiretape/live/pipes')

it('pipes for later servers are kept in a private folder, and each is used once', async () => {
  mkdirSync(stage.path('data/wiretape/live'), { recursive: true, mode: 0o700 })
  expect(await record('first')).toBe('first\nfirst\n')
  const spare = readdirSync(pipesFolder())
  expect(statSync(pipesFolder()).mode & 0o777).toBe(0o700)
  expect(await record('second')).toBe('second\nsecond\n')
  const left = readdirSync(pipesFolder())
  expect(left).toHaveLength(spare.length - 3)
  expect(spare).toEqual(expect.arrayContaining(left))
})

it.runIf(isLong)('servers that start at the same time never share a pipe', async () => {
  mkdirSync(stage.path('data/wiretape/live'), { recursive: true, mode: 0o700 })
  const names = Array.from({ length: 12 }, (_, n) => `server-${n}`)
  const printed = await Promise.all(names.map((name) => record(name)))
  expect(printed).toEqual(names.map((name) => `${name}\n${name}\n`))
})

it('another file among the pipes gets no output of a server', async () => {
  mkdirSync(pipesFolder(), { recursive: true, mode: 0o700 })
  for (const n of [1, 2, 3]) writeFileSync(`${pipesFolder()}/0123456789ab-${n}`, '')
  writeFileSync(`${pipesFolder()}/notes.txt`, 'mine')
  expect(await record('third')).toBe('third\nthird\n')
  expect(readFileSync(`${pipesFolder()}/notes.txt`, 'utf8')).toBe('mine')
})

it('a server gets pipes although the folder cannot be used', async () => {
  mkdirSync(`${pipesFolder()}/0123456789ab-1`, { recursive: true, mode: 0o700 })
  symlinkSync('0123456789ab-2', `${pipesFolder()}/0123456789ab-2`)
  expect(await record('odd entries')).toBe('odd entries\nodd entries\n')
  rmSync(pipesFolder(), { recursive: true })
  writeFileSync(pipesFolder(), '')
  expect(await record('a file')).toBe('a file\na file\n')
})

it('a mkfifo that makes nothing does not stop the recorder', async () => {
  mkdirSync(stage.path('data/wiretape/live'), { recursive: true, mode: 0o700 })
  mkdirSync(stage.path('bin'))
  symlinkSync('/bin/true', stage.path('bin/mkfifo'))
  const PATH = `${stage.path('bin')}:${process.env['PATH']}`
  expect(await record('no mkfifo', { PATH }, '&2')).toBe('no mkfifo\nno mkfifo\n')
})

/** Records a server that writes a text to its stdout and its stderr. Our own streams are files, so it gets pipes. */
async function record(text: string, env: NodeJS.ProcessEnv = {}, err = '/dev/stderr'): Promise<string> {
  const fd = openSync(stage.path(`${text}.txt`), 'a')
  try {
    const command = ['sh', '-c', `echo ${text}; echo ${text} >${err}`]
    const [file = '', ...args] = stage.record(command)
    const child = spawn(file, args, { env: { ...stage.env, ...env }, stdio: ['ignore', fd, fd] })
    await new Promise((resolve) => child.once('close', resolve))
    return readFileSync(stage.path(`${text}.txt`), 'utf8')
  } finally {
    closeSync(fd)
  }
}
