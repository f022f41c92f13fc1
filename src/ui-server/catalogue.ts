import type { CaptureConnection } from '../control/index.js'

/** A recording that the viewer may ask for. */
export interface ListedRecording {
  /** Names it in addresses; nothing can be learned or guessed from it. */
  readonly id: string
  readonly name: string
  readonly label: string
  readonly startedAt: string
  readonly sizeBytes: number
  readonly messages: number | null
  readonly state: 'live' | 'complete' | 'incomplete' | 'failed'
  /** Base names of its files, in the order of their segments. */
  readonly files: readonly string[]
  /** Absolute path of the first file, for commands that a person copies. */
  readonly path: string
}

/** What the server may give out; only what is listed can be asked for. */
export interface Catalogue {
  /** What was named on the command line. */
  given(): Promise<readonly ListedRecording[]>
  /** The recordings of the data folder, newest first. */
  recordings(): Promise<readonly ListedRecording[]>
  /** Path of a file of a listed recording. */
  pathOf(id: string, index: number): Promise<string | undefined>
  /** Whether a capture writes this file now, and which file goes on after it. */
  progressOf(path: string): Promise<{ readonly live: boolean; readonly next?: string }>
  /** Has the capture that writes this file tell when it wrote something; undefined when it cannot be asked. */
  attend(path: string, changed: () => void): Promise<{ close(): void } | undefined>
  /** Attaches as a screen to the capture that writes a listed recording; undefined when none does. */
  control?(id: string): Promise<CaptureConnection | undefined>
}
