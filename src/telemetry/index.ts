export { readTelemetrySettings, type TelemetryOptions, type TelemetrySettings } from './settings.js'
export { startProgramMetrics } from './program-metrics.js'
export { createTelemetry, type Following, type Telemetry, type TelemetryOutcome } from './telemetry.js'
