import type { Guard, InterceptOptions } from '../intercept/index.js'
import type { MetaRecord, Transport } from '../model/index.js'
import type { Recorder } from '../proxy/index.js'
import type { RulesInForce } from './rules-in-force.js'

export type InterceptModule = typeof import('../intercept/index.js')

/** Makes what looks at every message of one capture. */
export type MakeGuard = (scene: {
  readonly transport: Transport
  /** A screen is attached, where a person can decide. */
  readonly isAttended: () => boolean
  /** Puts a sentence on the tape, and shows it to screens. */
  readonly tell: (text: string) => void
}) => Guard

/** The gate's code, and what it is asked for. */
export interface LoadedIntercept {
  readonly module: InterceptModule
  readonly options: InterceptOptions
  /** Of a file that is looked at as long as the capture runs. */
  readonly rules?: RulesInForce
  readonly makeGuard?: MakeGuard
}

export interface LiveContext {
  readonly meta: MetaRecord
  /** First segment of the tape. */
  readonly tape: string
  readonly registryFolder: string
  /** Its lines say neither which message they are about nor what was decided. */
  readonly isStrict: boolean
  /** Where `save` goes without a path. */
  readonly sessionFile: string
  recorder(): Recorder
  /** Saves a session file; gives back why it could not. */
  save(path: string): Promise<string | undefined>
  /** The socket is there. False when nobody will find it. */
  listens(socket: string): boolean
  /** Set when something is to be held from the start: then the gate is loaded already. */
  readonly intercept?: LoadedIntercept
}
