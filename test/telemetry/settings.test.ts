/** The effect of OpenTelemetry's variables on `record --otlp`. */
import { describe, expect, it } from 'vitest'
import { readTelemetrySettings, type TelemetrySettings } from '../../src/telemetry/index.js'

function settingsOf(
  env: Record<string, string>,
  options: Partial<Parameters<typeof readTelemetrySettings>[0]> = {},
): { settings: TelemetrySettings | undefined; warnings: string[] } {
  const warnings: string[] = []
  const world = {
    env,
    readFile: (path: string) => `pem of ${path}`,
    warn: (line: string) => void warnings.push(line),
  }
  return { settings: readTelemetrySettings({ otlp: 'env', ...options }, world), warnings }
}

describe('where telemetry goes', () => {
  it.each([
    [{}, 'env', 'http://localhost:4318/v1/traces', 'http://localhost:4318/v1/metrics'],
    [{}, 'https://a.example/otlp/', 'https://a.example/otlp/v1/traces', 'https://a.example/otlp/v1/metrics'],
    [
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all/base',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces/as/it/is',
      },
      'env',
      'http://traces/as/it/is',
      'http://all/base/v1/metrics',
    ],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other' },
      'http://here',
      'http://here/v1/traces',
      'http://here/v1/metrics',
    ],
    [{ OTEL_METRICS_EXPORTER: 'none' }, 'env', 'http://localhost:4318/v1/traces', undefined],
  ])('with %j and --otlp %s', (env, otlp, traces, metrics) => {
    const { settings, warnings } = settingsOf(env, { otlp })
    expect([settings?.traces?.url, settings?.metrics?.url]).toEqual([traces, metrics])
    expect(warnings).toEqual([])
  })

  it('is off, with a message, when all exports are switched off', () => {
    for (const env of [
      { OTEL_SDK_DISABLED: 'TRUE' },
      { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
    ]) {
      const { settings, warnings } = settingsOf(env)
      expect(settings).toBeUndefined()
      expect(warnings).toHaveLength(1)
    }
  })
})

it('variables of one signal win over those of all', () => {
  const { settings } = settingsOf({
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1, b = x%3Dy',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'c=3',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '600',
    OTEL_EXPORTER_OTLP_CERTIFICATE: 'ca.pem',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'none',
  })
  expect(settings?.traces).toMatchObject({
    headers: [
      ['a', '1'],
      ['b', 'x=y'],
    ],
    protocol: 'http/protobuf',
    timeoutMs: 500,
    ca: 'pem of ca.pem',
    compression: 'gzip',
  })
  expect(settings?.metrics).toMatchObject({
    headers: [['c', '3']],
    protocol: 'http/json',
    timeoutMs: 600,
    compression: 'none',
  })
})

it('an invalid value is reported without secrets, and its default is used', () => {
  const { settings, warnings } = settingsOf({
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'a-secret-without-a-name',
    OTEL_BSP_SCHEDULE_DELAY: '-1',
    OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'Delta',
    OTEL_EXPORTER_OTLP_COMPRESSION: '',
  })
  expect(settings?.traces).toMatchObject({ protocol: 'http/json', headers: [], compression: 'none' })
  expect(settings).toMatchObject({ delayMs: 1_000, temporality: 'delta' })
  expect(new Set(warnings).size).toBe(warnings.length)
  expect(warnings.join()).toMatch(
    /OTEL_EXPORTER_OTLP_PROTOCOL has the unknown value grpc.*OTEL_BSP_SCHEDULE_DELAY/,
  )
  expect(warnings.join()).not.toContain('a-secret')
})

it('a base URL of the variables that is none is an error of usage', () => {
  expect(() => settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' })).toThrow(
    'OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https URL',
  )
})
