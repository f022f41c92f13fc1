export {
  readTelemetrySettings,
  type OtlpProtocol,
  type TelemetryOptions,
  type TelemetrySettings,
} from './settings.js'
export { createTelemetry, type Following, type Telemetry, type TelemetryOutcome } from './telemetry.js'
