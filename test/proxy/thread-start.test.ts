import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { MetaRecord } from '../../src/model/index.js'
import type { Redaction } from '../../src/proxy/index.js'
import type { RecorderInit } from '../../src/proxy/recorder-core.js'
import type { RecorderReply } from '../../src/proxy/recording-thread.js'
import { startTape } from '../../src/tape/index.js'

const program = join(import.meta.dirname, '../../dist/bin/recorder-worker.js')
let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'wiretape-test-'))))
afterEach(() => rmSync(folder, { recursive: true }))

/** Kinds of the replies of a thread that begins and ends. */
async function repliesWith(redaction: Redaction): Promise<string[]> {
  const meta: MetaRecord = {
    type: 'meta',
    startedAt: new Date().toISOString(),
    label: 'x',
    command: ['x'],
    mcpTapVersion: 'wiretape 0',
  }
  const { path, fd, sizeBytes } = startTape(folder, meta)
  const tape = { path, fd, sizeBytes }
  const init: RecorderInit = {
    tape,
    meta,
    startedNs: process.hrtime.bigint(),
    strict: false,
    wire: 'pipes',
    redaction,
  }
  const thread = new Worker(program, { stdout: true, stderr: true })
  const kinds: string[] = []
  const ended = new Promise((resolve) => thread.once('exit', resolve))
  thread.on('message', ({ kind }: RecorderReply) => {
    kinds.push(kind)
    if (kind === 'ready') thread.postMessage({ kind: 'close', end: { exitCode: 0 } })
  })
  thread.postMessage(init)
  await ended
  return kinds
}

it('lets messages pass a few milliseconds before it has begun', async () => {
  expect(await repliesWith({ defaults: true })).toEqual(['loaded', 'ready', 'closed'])
})

it('lets none pass before it has compiled rules, which can take longer than a killed recorder may lack', async () => {
  expect(await repliesWith({ defaults: true, patterns: ['ACME[0-9]{6}'] })).toEqual(['ready', 'closed'])
})
