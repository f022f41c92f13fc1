/** The recording thread. It ends when its tape is closed. */
import { parentPort } from 'node:worker_threads'
import {
  RecorderCore,
  type RecorderInit,
  type RecorderMessage,
  type RecordingReport,
} from './recorder-core.js'
import type { RecorderReply } from './recording-thread.js'
import { createMessageMemory } from '../wire/index.js'
import { prepareRedaction, useRedactionTables } from '../redaction/index.js'
import { inlineLess } from './inline-less.js'
import { moduleOfBuild, tablesOfBuild } from './files-of-build.js'
import { rehearse } from './rehearse.js'
import { createRunRedactor, hasOwnRules } from './run-redactor.js'
import { tellWork } from './thread-state.js'

const port = parentPort!
const reply = (message: RecorderReply): void => port.postMessage(message)

/** The first message. */
let init: RecorderInit
let core: RecorderCore
const tell = (isBusy: boolean): void => {
  if (init.state) tellWork(init.state, isBusy)
}

/** Set during asynchronous work. Later messages wait for it. */
let busy: Promise<void> | undefined

let hasBegun = false

function take(message: RecorderMessage): void {
  hasBegun = true
  tell(true)
  if (busy) return wait(busy.then(() => handle(message)))
  const report = core.handle(message)
  if (report instanceof Promise) wait(report.then(() => answer(message, undefined)))
  else answer(message, report)
}

function wait(work: Promise<void>): void {
  busy = work
  void work.then(() => {
    if (busy === work) busy = undefined
  })
}

async function handle(message: RecorderMessage): Promise<void> {
  tell(true)
  answer(message, await core.handle(message))
}

function answer(message: RecorderMessage, report: RecordingReport | undefined): void {
  tell(false)
  if (report) {
    reply({ kind: 'closed', report })
    port.close()
    return
  }
  if (message.kind === 'open-requests') return reply({ kind: 'done', open: core.openRequests() })
  if (message.kind === 'tool-headers')
    return reply({ kind: 'done', toolHeaders: core.toolHeaders(message.tool) ?? null })
  const { tapeEnd } = core
  reply({ kind: 'done', free: true, ...(tapeEnd && { tapeEnd }), ...core.takeNews() })
}

async function begin(): Promise<void> {
  if (init.wire === 'pipes') inlineLess()
  core = new RecorderCore(init, await createRunRedactor(init.redaction))
  const { sealAfterMs } = init
  if (sealAfterMs !== undefined) {
    const everyMs = Math.min(60_000, Math.max(250, sealAfterMs / 4))
    // Asynchronous work is not interrupted; the next interval comes soon.
    setInterval(() => {
      if (!busy) core.sealOld()
    }, everyMs).unref()
  }
  reply({ kind: 'ready' })
  // The first batch comes only after a while: it does not wait for the tables.
  tell(true)
  prepareRedaction()
  tell(false)
  // The first batch has not come yet, and the server is starting.
  if (init.wire === 'pipes' && !init.resume)
    void createRunRedactor({ defaults: true }).then((redactor) => rehearse(redactor, () => hasBegun))
}

export function recordInThread(): void {
  createMessageMemory(moduleOfBuild())
  useRedactionTables(tablesOfBuild)
  const early: RecorderMessage[] = []
  let heard = (message: RecorderMessage): unknown => early.push(message)
  port.on('message', (message: RecorderInit | RecorderMessage) => {
    if ('kind' in message) heard(message)
    else {
      init = message
      // The client's first message is waiting. The first batch comes only after a while, and the rest takes less.
      if (!hasOwnRules(init.redaction)) reply({ kind: 'loaded' })
      void begin().then(() => {
        heard = take
        for (const waiting of early) take(waiting)
      })
    }
  })
}
