import os from 'node:os'
import { createMeter, otlpEncoders, type OwnMetric, type Resource } from '../formats/index.js'
import { createClosing, Delivery } from './delivery.js'
import { createPoster } from './post.js'
import type { TelemetrySettings } from './settings.js'

/** Time limit for the receiver at the end. */
const lastMs = 2_500

/** Reports of a program about itself, while it runs. */
export interface ProgramMetrics {
  /** Sends the last report. Never rejects. @returns why it did not arrive */
  close(): Promise<string | undefined>
}

/**
 * Exports the metrics of a program that does not record: a shipper, a collector.
 *
 * @param service name of the service, unless the variables name it
 * @param read returns the current metrics; must not reject
 */
export function startProgramMetrics(
  settings: TelemetrySettings,
  service: string,
  version: string,
  read: () => Promise<readonly OwnMetric[]>,
): ProgramMetrics {
  const { metrics: target, metricIntervalMs, temporality } = settings
  if (!target) return { close: () => Promise.resolve(undefined) }
  const closing = createClosing()
  const delivery = new Delivery(createPoster(target, `wiretape/${version}`), closing)
  const meter = createMeter({ startNs: nowNs(), temporality })
  const resource = resourceOf(settings, service, version)
  let trouble: string | undefined
  let reporting: Promise<void> | undefined

  async function report(): Promise<void> {
    const current = await read()
    const { metrics, arrived } = meter.collect(nowNs(), current)
    const body = otlpEncoders[target!.protocol].metrics(resource, metrics)
    const result = await delivery.deliver(body)
    trouble = result.kind === 'left-out' ? result.why : undefined
    if (result.kind !== 'left-out') arrived()
  }

  const timer = setInterval(() => {
    // A slow receiver gets the next report later.
    reporting ??= report().finally(() => (reporting = undefined))
  }, metricIntervalMs)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      closing.set(performance.now() + lastMs)
      await reporting
      await report()
      return trouble
    },
  }
}

function resourceOf({ resource }: TelemetrySettings, service: string, version: string): Resource {
  const attributes = new Map([
    ['service.name', service],
    ['service.version', version],
    ['service.instance.id', `${os.hostname()}:${process.pid}`],
    ['host.name', os.hostname()],
    ...resource,
  ])
  return { attributes: [...attributes], version }
}

function nowNs(): bigint {
  return BigInt(Date.now()) * 1_000_000n
}
