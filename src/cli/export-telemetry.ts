import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CaptureFiles, CaptureOptions } from '../capture/index.js'
import { WiretapeError } from '../model/index.js'
import type { Io } from './io.js'
import type { OwnMetric } from '../formats/index.js'
import type { TelemetryOptions, TelemetrySettings } from '../telemetry/index.js'
import type { OtlpOptions } from './otlp-options.js'
import type { RecordOptions } from './record-flag.js'
import { readVersion } from './version.js'

/**
 * The exporter of a recording, loaded only if requested.
 *
 * @throws WiretapeError `usage`
 */
export function telemetryOf(options: RecordOptions, io: Io): Pick<CaptureOptions, 'telemetry'> {
  const { otlp, otlpProtocol: protocol, otlpPayload: payloads } = options
  if (otlp === undefined) {
    const flag = protocol === undefined ? (payloads ? '--otlp-payload' : undefined) : '--otlp-protocol'
    if (flag === undefined) return {}
    throw needsOtlp(flag)
  }
  return {
    async telemetry() {
      const { createTelemetry } = await import('../telemetry/index.js')
      const settings = await settingsOf(
        { otlp, ...(protocol && { protocol }), ...(payloads && { payloads }) },
        io,
      )
      return settings && createTelemetry(settings, readVersion())
    },
  }
}

/**
 * Exports the metrics of a shipper or a collector, if requested.
 *
 * @param read returns the current metrics; must not reject
 * @throws WiretapeError `usage`
 */
export async function startMetrics(
  { otlp, otlpProtocol: protocol }: OtlpOptions,
  service: string,
  read: () => Promise<readonly OwnMetric[]>,
  io: Io,
): Promise<{ close(): Promise<void> }> {
  if (otlp === undefined) {
    if (protocol === undefined) return { close: () => Promise.resolve() }
    throw needsOtlp('--otlp-protocol')
  }
  const { startProgramMetrics } = await import('../telemetry/index.js')
  const settings = await settingsOf({ otlp, ...(protocol && { protocol }) }, io)
  const metrics = settings && startProgramMetrics(settings, service, readVersion(), read)
  return {
    async close() {
      const trouble = await metrics?.close()
      if (trouble !== undefined)
        await io.complain(`telemetry: the last metrics were not exported: ${trouble}`)
    },
  }
}

async function settingsOf(options: TelemetryOptions, io: Io): Promise<TelemetrySettings | undefined> {
  const { readTelemetrySettings } = await import('../telemetry/index.js')
  return readTelemetrySettings(options, {
    env: process.env,
    readFile: (path) => readFileSync(resolve(io.cwd, path), 'utf8'),
    warn: (line) => void io.complain(line),
  })
}

function needsOtlp(flag: string): WiretapeError {
  return new WiretapeError('usage', `${flag} requires --otlp`, { hint: '--otlp http://localhost:4318' })
}

/** Reports data that was not exported. */
export async function concludeTelemetry(
  outcome: NonNullable<CaptureFiles['telemetry']>,
  io: Io,
): Promise<void> {
  if ('trouble' in outcome) return io.complain(`telemetry was not exported: ${outcome.trouble}`)
  const { spansSent, spansLeftOut, unread, why, metricsTrouble } = outcome
  const parts = [
    ...(spansLeftOut > 0 ? [`${spansLeftOut} of ${spansSent + spansLeftOut} spans were not exported`] : []),
    ...(unread > 0 ? [`${unread} records were skipped`] : []),
    ...(metricsTrouble === undefined ? [] : ['the last metrics were not exported']),
  ]
  const reason = why ?? metricsTrouble
  if (parts.length === 0) return
  return io.complain(
    `telemetry: ${parts.join(', ')}${reason === undefined ? '' : `: ${reason}`}`,
    'the recording is complete',
  )
}
