import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { expect, it } from 'vitest'
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

it('servers that start at the same time never share a pipe', async () => {
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

/** Records a server that writes a text to its stdout and its stderr. Our own streams are files, so it gets pipes. */
async function record(text: string): Promise<string> {
  const fd = openSync(stage.path(`${text}.txt`), 'a')
  try {
    const command = ['sh', '-c', `echo ${text}; echo ${text} >/dev/stderr`]
    const [file = '', ...args] = stage.record(command)
    const child = spawn(file, args, { env: stage.env, stdio: ['ignore', fd, fd] })
    await new Promise((resolve) => child.once('close', resolve))
    return readFileSync(stage.path(`${text}.txt`), 'utf8')
  } finally {
    closeSync(fd)
  }
}
