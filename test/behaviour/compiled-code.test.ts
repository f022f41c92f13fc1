import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { leftOut, run } from './run-cli.js'
import { cli, useStage } from './stage.js'

const stage = useStage()
const folder = join(dirname(cli), 'code')
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const nodeKeeps = major > 22 || (major === 22 && minor >= 8)

it('keeps compiled code beside the program, for its owner only', async () => {
  // Code is kept at the exit of a process.
  if (nodeKeeps)
    expect(await run([process.execPath, cli, 'ls', '--help'])).toMatchObject({ code: 0, stderr: '' })
  else await record()
  expect(statSync(folder).mode & 0o777).toBe(0o700)
  const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  // Node has one folder for each set of flags of V8.
  if (nodeKeeps) {
    const ofNode = kept.filter((name) => name.startsWith(`v${process.versions.node}-`))
    expect(ofNode.length).toBeGreaterThan(5)
  } else
    for (const name of ['start', 'recorder-thread'])
      expect(kept.find((file) => file.startsWith(`${name}-`) && file.includes(process.version))).toBeDefined()
})

it('says nothing where compiled code cannot be kept', async () => {
  if (leftOut(!nodeKeeps, 'a folder of compiled code that cannot be used: Node has its own')) return
  const away = `${folder}-away`
  renameSync(folder, away)
  writeFileSync(folder, '')
  try {
    await record()
  } finally {
    rmSync(folder)
    renameSync(away, folder)
  }
})

it('replaces damaged compiled code', async () => {
  if (leftOut(!nodeKeeps, 'damaged compiled code: Node checks it')) return
  await record()
  const files = readdirSync(folder)
    .filter((name) => /^(?:start|recorder-thread)-.*[0-9a-f]$/.test(name))
    .map((name) => join(folder, name))
  expect(files.length).toBeGreaterThan(1)
  for (const file of files) writeFileSync(file, 'x'.repeat(10_000))
  await record()
  expect(files.filter((file) => statSync(file).size > 10_000).length).toBeGreaterThan(1)
})

async function record(): Promise<void> {
  const recorder = stage.start(stage.record([process.execPath, '-e', '0']))
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  expect(recorder.stderr().toString()).toBe('')
}
