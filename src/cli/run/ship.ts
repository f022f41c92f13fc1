import { setTimeout } from 'node:timers/promises'
import { resolve } from 'node:path'
import { policyInForce, registryFolderIn } from '../../capture/index.js'
import { liveCaptures } from '../../control/index.js'
import { WiretapeError } from '../../model/index.js'
import { countOf, escapeJson, formatBytes } from '../../render/index.js'
import { readStoreName, replaceFile, storeNamePath } from '../../tape/index.js'
import {
  findFinished,
  hasZstd,
  keepHostState,
  openStore,
  parseStoreAddress,
  shipSegments,
  storeName,
  tellHostState,
  waitingOf,
  type NatsFiles,
  type ObjectStore,
  type ShipReport,
  type Waiting,
} from '../../ship/index.js'
import type { OwnMetric } from '../../formats/index.js'
import { recordingsIn } from '../data-folder.js'
import { startMetrics } from '../export-telemetry.js'
import type { OtlpOptions } from '../otlp-options.js'
import { ShipperMetrics } from '../shipper-metrics.js'
import { exitCode } from '../exit-codes.js'
import { onInterrupt } from '../interrupt.js'
import type { Io } from '../io.js'
import { enforceRetention } from '../retention.js'
import { readVersion } from '../version.js'

export interface ShipCommandOptions extends OtlpOptions {
  readonly to?: string
  readonly once?: boolean
  readonly follow?: boolean
  /** Milliseconds. */
  readonly every?: number
  readonly compression?: 'gzip' | 'zstd'
  readonly json?: boolean
}

/** Time between two passes. */
const usualEveryMs = 5_000
/** An idle shipper reports at this interval. */
const signOfLifeMs = 60_000
/** Longest pause before an unreachable store is retried. */
const longestPauseMs = 300_000

export async function runShip(options: ShipCommandOptions, io: Io): Promise<number> {
  const inForce = await policyInForce()
  if (inForce.kind === 'broken') throw new WiretapeError('unreadable', `${inForce.why}: nothing is shipped`)
  const policy = inForce.kind === 'policy' ? inForce.policy : undefined
  const to = options.to ?? policy?.shipTo?.value
  if (to === undefined) {
    throw new WiretapeError('usage', 'a store is needed', {
      hint: 'name it with --to /mnt/tapes, s3://bucket/prefix or nats://host',
    })
  }
  const address = addressOf(to, io)
  const compression = options.compression ?? policy?.compression?.value
  const shipper = createShipper(
    address,
    { ...options, ...(compression && { compression }) },
    policy?.nats?.value,
    io,
  )
  const interrupt = onInterrupt()
  const exported = await startMetrics(options, 'wiretape-ship', () => shipper.metricsNow(), io)
  try {
    return options.follow ? await follow(shipper, options, interrupt.signal, io) : await shipper.once(io)
  } finally {
    interrupt.close()
    await shipper.close()
    await exported.close()
  }
}

/** An address in the form that names of stores have. */
function addressOf(address: string, io: Pick<Io, 'cwd'>): string {
  return parseStoreAddress(address).kind === 'folder' ? resolve(io.cwd, address) : address.replace(/\/+$/, '')
}

interface Shipper {
  /** Never rejects. */
  metricsNow(): Promise<OwnMetric[]>
  /** One pass. Failures of the store are in the report. */
  pass(signal?: AbortSignal): Promise<ShipReport>
  once(io: Io): Promise<number>
  close(): Promise<void>
}

function createShipper(
  address: string,
  options: ShipCommandOptions,
  files: NatsFiles | undefined,
  io: Io,
): Shipper {
  const { dataFolder } = io
  const target = storeName(address, process.env)
  let store: ObjectStore | undefined
  let toldMs = 0
  const metrics = new ShipperMetrics()
  const version = readVersion()
  const encoding = options.compression === 'zstd' && hasZstd ? 'zstd' : 'gzip'
  async function pass(signal?: AbortSignal): Promise<ShipReport> {
    let report: ShipReport
    try {
      store ??= await openStore(address, process.env, files)
      await keepStoreName(address, target, dataFolder)
      report = await shipSegments({
        recordings: recordingsIn(dataFolder),
        dataFolder,
        captures: () => liveCaptures(registryFolderIn(dataFolder)),
        store,
        target,
        encoding,
        version,
        onStart: (reportNow) => metrics.begin(reportNow),
        ...(signal && { signal }),
      })
    } catch (error) {
      if (!(error instanceof WiretapeError) || error.code === 'usage') throw error
      report = { ...nothingShipped, ...(await waitingFor(target, dataFolder)), trouble: error }
    }
    const isNews = report.shipped > 0 || report.trouble !== undefined
    if (!isNews && Date.now() - toldMs < signOfLifeMs) return report
    // Segments have priority: a full disk or an unreachable store does not end the shipper.
    const state = await keepHostState({ dataFolder, target, version }, report).catch(() => undefined)
    await enforceRetention(dataFolder).catch(() => 0)
    const refusal = store && state && (await refusalOf(tellHostState(store, dataFolder, state)))
    // Without segments to ship, nothing else shows that the store refuses.
    if (refusal && !isNews) return { ...report, trouble: refusal }
    toldMs = Date.now()
    return report
  }
  async function counted(signal?: AbortSignal): Promise<ShipReport> {
    const report = await pass(signal)
    metrics.add(report)
    return report
  }
  return {
    metricsNow: () => metrics.read(() => waitingFor(target, dataFolder).catch(() => nothingShipped)),
    pass: counted,
    async once() {
      if (options.compression === 'zstd' && !hasZstd)
        await io.complain('this version of Node has no zstd: using gzip')
      const report = await counted()
      if (options.json) await io.write(jsonLine(report))
      else if (report.shipped > 0 || !report.trouble) await io.write(`${told(report, address)}\n`)
      if (!report.trouble) return exitCode.done
      await io.complain(report.trouble.message, report.trouble.hint)
      return exitCode.usage
    },
    async close() {
      await store?.close().catch(() => undefined)
      store = undefined
    },
  }
}

/** `prune` and quotas know the address only. Without the name, marks of all endpoints count. */
async function keepStoreName(address: string, target: string, dataFolder: string): Promise<void> {
  if (target === address || readStoreName(dataFolder, address) === target) return
  await replaceFile(storeNamePath(dataFolder, address), `${target}\n`).catch(() => undefined)
}

async function refusalOf(work: Promise<void>): Promise<WiretapeError | undefined> {
  try {
    await work
    return undefined
  } catch (error) {
    return error instanceof WiretapeError ? error : undefined
  }
}

/** The backlog of a store, found without it. */
async function waitingFor(target: string, dataFolder: string): Promise<Waiting> {
  const captures = await liveCaptures(registryFolderIn(dataFolder))
  const { waiting } = await findFinished(recordingsIn(dataFolder), captures, target)
  return waitingOf(waiting)
}

const nothingShipped: ShipReport = {
  shipped: 0,
  shippedBytes: 0,
  sentBytes: 0,
  waiting: 0,
  waitingBytes: 0,
  oldestWaiting: null,
  refusals: 0,
}

async function follow(
  shipper: Shipper,
  { every = usualEveryMs, json }: ShipCommandOptions,
  signal: AbortSignal,
  io: Io,
): Promise<number> {
  let pauseMs = every
  let lastTrouble: string | undefined
  while (!signal.aborted) {
    const report = await shipper.pass(signal)
    const { trouble } = report
    if (json) await io.write(jsonLine(report))
    else if (trouble && trouble.message !== lastTrouble) await io.complain(trouble.message, trouble.hint)
    else if (!trouble && lastTrouble !== undefined) await io.complain('the store accepts segments again')
    await io.flush()
    lastTrouble = trouble?.message
    if (trouble) await shipper.close()
    pauseMs = trouble ? Math.min(Math.max(pauseMs, every) * 2, longestPauseMs) : every
    await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
  }
  return exitCode.done
}

function told({ shipped, shippedBytes, sentBytes, waiting }: ShipReport, target: string): string {
  const what = `${countOf(shipped, 'segment')} (${formatBytes(shippedBytes)}, ${formatBytes(sentBytes)} sent)`
  const rest = waiting === 0 ? '' : `, ${waiting} still waiting`
  return `shipped ${what} to ${target}${rest}`
}

/** See docs/schemas/ship.schema.json. */
function jsonLine({ trouble, ...report }: ShipReport): string {
  const failure = trouble ? { code: trouble.code, message: trouble.message } : null
  return `${escapeJson(JSON.stringify({ version: 1, ...report, trouble: failure }))}\n`
}
