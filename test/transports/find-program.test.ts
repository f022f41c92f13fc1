import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { reasonNotFound } from '../../src/transports/stdio/find-program.js'
import { reasonNotStarted } from '../../src/transports/stdio/process-end.js'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-programs-'))
  mkdirSync(join(folder, 'one/folder'), { recursive: true })
  mkdirSync(join(folder, 'two'))
  for (const [name, mode] of [
    ['one/runs', 0o755],
    ['one/text', 0o644],
    ['one/both', 0o644],
    ['two/both', 0o755],
  ] as const) {
    writeFileSync(join(folder, name), '#!/bin/sh\n')
    chmodSync(join(folder, name), mode)
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The outcome of really starting the program. */
function started(program: string, path: string): Promise<string | undefined> {
  const exited = new Promise<void>((resolve, reject) => {
    // It throws for some reasons, and tells others later.
    const child = spawn(program, { env: { PATH: path }, stdio: 'ignore' })
    child.once('error', reject)
    child.once('exit', () => resolve())
  })
  return exited.then(
    () => undefined,
    (error: unknown) => reasonNotStarted(program, error),
  )
}

describe.skipIf(process.platform === 'win32')('why a program is not found', () => {
  it.each([
    ['runs', 'one:two'],
    ['runs', 'two'],
    ['runs', 'nowhere:one/runs:one'],
    ['text', 'one:two'],
    ['both', 'one:two'],
    ['folder', 'one'],
    ['FOLDER/one/runs', ''],
    ['FOLDER/one/text', ''],
    ['FOLDER/one/folder', ''],
    ['FOLDER/one/nothing', ''],
    ['FOLDER/one/runs/below', ''],
  ])('is said as if it had been started: %s in %s', async (program, places) => {
    const path = places
      .split(':')
      .map((place) => join(folder, place))
      .join(':')
    const file = program.replace('FOLDER', folder)
    expect(reasonNotFound([file], path)).toBe(await started(file, path))
  })
})
