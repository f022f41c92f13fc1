/** A script that reads the address of `wiretape ui` and ends it at once gets exit code 0. */
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import type { Io } from '../../src/cli/io.js'
import { runUi } from '../../src/cli/run/ui.js'

// The sources run here, which have no built viewer beside them.
vi.mock('../../src/cli/viewer-folder.js', () => ({
  viewerFolder: () => `${resolve(import.meta.dirname, '../../dist/viewer')}/`,
  actingScript: () => resolve(import.meta.dirname, '../../dist/acting/acting.js'),
  sampleRecording: () => '',
}))

const folder = mkdtempSync(join(os.tmpdir(), 'wiretape-ui-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('ui ends as asked when Ctrl-C comes while its address is printed', async () => {
  const written: string[] = []
  const io: Partial<Io> = {
    cwd: folder,
    dataFolder: folder,
    write: async (text) => {
      if (written.push(text) === 1) process.emit('SIGINT', 'SIGINT')
      return true
    },
    flush: async () => true,
    complain: async () => undefined,
  }
  expect(await runUi([], { open: false }, io as Io)).toBe(0)
  expect(written[0]).toMatch(/^viewer: http:/)
})
