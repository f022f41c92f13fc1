import type { TapeEnd } from '../tape/index.js'
import type { TelemetryReport } from './exporter.js'
import type { TelemetrySettings } from './settings.js'

/** Data with which the thread is started. */
export interface WorkerInit {
  readonly settings: TelemetrySettings
  readonly version: string
}

/** Requests to the thread. */
export type WorkerRequest =
  | { readonly kind: 'follow'; readonly id: number; readonly tape: string }
  | { readonly kind: 'grew'; readonly id: number; readonly end: TapeEnd | undefined }
  | { readonly kind: 'finish'; readonly id: number }

/** Reply from the thread, for each `finish`. */
export interface WorkerReply {
  readonly id: number
  readonly report: TelemetryReport
}
