export {
  readTelemetrySettings,
  type OtlpProtocol,
  type TelemetryOptions,
  type TelemetrySettings,
} from './settings.js'
export { startProgramMetrics, type ProgramMetrics } from './program-metrics.js'
export { createTelemetry, type Following, type Telemetry, type TelemetryOutcome } from './telemetry.js'
