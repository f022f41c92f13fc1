import { mkdtemp } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { countOf } from '../../render/index.js'
import { WiretapeError } from '../../model/index.js'
import { openStore, parseStoreAddress, type ObjectStore } from '../../ship/index.js'
import { Collector, type WrittenBatch } from '../collect/collector.js'
import { openDeadSource } from '../collect/dead-source.js'
import { HostStates } from '../collect/host-states.js'
import type { SegmentSource } from '../collect/source.js'
import { collectorMetrics } from '../collect/collector-metrics.js'
import { createLagMeter } from '../collect/lag.js'
import { startMetrics } from '../export-telemetry.js'
import type { OtlpOptions } from '../otlp-options.js'
import { exitCode } from '../exit-codes.js'
import { onInterrupt } from '../interrupt.js'
import type { Io } from '../io.js'
import { createSpools } from '../spools.js'

export interface CollectOptions extends OtlpOptions {
  readonly from: string
  readonly to: string
  readonly once?: boolean
  readonly retryDead?: boolean
  readonly json?: boolean
  readonly batchMessages: number
  readonly batchAge: number
}

/** Most segments of a batch, whatever their number of messages. */
const batchSegments = 2_000
/** Equal complaints about any segments are printed once in this time. */
const complaintMs = 60_000

export async function runCollect(options: CollectOptions, io: Io): Promise<number> {
  // A bus is a queue: what was collected is deleted from it.
  if (parseStoreAddress(options.to).kind === 'jetstream')
    throw new WiretapeError('usage', `cannot collect to ${options.to}: a bus keeps no recordings`, {
      hint: 'give --to a folder or s3://BUCKET',
    })
  const spools = createSpools()
  const target = await openStore(options.to, process.env)
  const interrupt = onInterrupt()
  let source: SegmentSource | undefined
  try {
    // Detects a refusing store before any delivery is taken.
    await target.head('index/none')
    source = await openSource(options.from, target)
    const folder = await mkdtemp(join(os.tmpdir(), 'wiretape-collect-'))
    spools.add(folder)
    const isCopied = source.store.address !== target.address
    const shared = {
      target,
      folder,
      batchRows: options.batchMessages,
      batchSegments,
      batchAgeMs: options.batchAge,
      now: () => performance.now(),
      complain: onceAMinute((message) => io.complain(message)),
      onBatch: (batch: WrittenBatch) => printBatch(batch, options, io),
    }
    const collector = new Collector({ ...shared, source, isSameStore: !isCopied })
    const hosts = isCopied ? new HostStates(source.store, target) : undefined
    if (options.once !== true) void hosts?.keepCopying(interrupt.signal)
    const lagNow = createLagMeter(source)
    const metrics = await startMetrics(
      options,
      'wiretape-collect',
      async () => collectorMetrics(collector.counts, await lagNow()),
      io,
    )
    try {
      let stillDead = 0
      if (options.retryDead === true) {
        const again = new Collector({
          ...shared,
          source: openDeadSource(target),
          isSameStore: false,
          mostAttempts: 1,
        })
        await again.run(interrupt.signal, true)
        stillDead = again.counts.dead
      }
      await collector.run(interrupt.signal, options.once === true)
      if (options.once === true) await hosts?.copy()
      return stillDead + collector.counts.dead > 0 && options.once ? exitCode.found : exitCode.done
    } finally {
      await metrics.close()
    }
  } finally {
    interrupt.close()
    await source?.close()
    await target.close()
    await spools.close()
  }
}

async function openSource(address: string, target: ObjectStore): Promise<SegmentSource> {
  if (parseStoreAddress(address).kind === 'jetstream') {
    const { openNatsSource } = await import('../collect/nats-source.js')
    return openNatsSource(address, process.env)
  }
  const { openStoreSource } = await import('../collect/store-source.js')
  return openStoreSource(address, process.env, async (key) => (await target.head(key)) !== undefined)
}

/** See docs/schemas/collect.schema.json. */
async function printBatch(batch: WrittenBatch, { json }: CollectOptions, io: Io): Promise<void> {
  const { id, segments, messages, bytes } = batch
  const line = json
    ? JSON.stringify({ version: 1, batch: id, segments, messages, bytes })
    : `${new Date().toISOString()}  ${countOf(segments, 'segment')}, ${countOf(messages, 'message')}`
  await io.write(`${line}\n`, json ? 'data' : 'text')
  await io.flush()
}

function onceAMinute(complain: (message: string) => Promise<void>): (message: string) => Promise<void> {
  const last = new Map<string, number>()
  return async (message) => {
    const nowMs = performance.now()
    // An unreachable store fails for every segment in the same way.
    const kind = message.replaceAll(/segments\/\S+/g, 'segments/')
    if (nowMs - (last.get(kind) ?? -Infinity) < complaintMs) return
    if (last.size > 100) last.clear()
    last.set(kind, nowMs)
    await complain(message)
  }
}
