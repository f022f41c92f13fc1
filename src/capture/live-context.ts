import type { Guard, InterceptOptions } from '../intercept/index.js'
import type { MetaRecord, Transport } from '../model/index.js'
import type { Recorder } from '../proxy/index.js'
import type { RulesInForce } from './rules-in-force.js'

export type InterceptModule = typeof import('../intercept/index.js')

/** Creates the guard, which checks every message of one capture. */
export type MakeGuard = (scene: {
  readonly transport: Transport
  /** A screen is attached, so a person can decide. */
  readonly isAttended: () => boolean
  /** Writes a sentence to the tape, and shows it on screens. */
  readonly tell: (text: string) => void
}) => Guard

/** The gate's code and options. */
export interface LoadedIntercept {
  readonly module: InterceptModule
  readonly options: InterceptOptions
  /** Rules from a file that is watched while the capture runs. */
  readonly rules?: RulesInForce
  readonly makeGuard?: MakeGuard
}

export interface LiveContext {
  readonly meta: MetaRecord
  /** First segment of the tape. */
  readonly tape: string
  readonly registryFolder: string
  /** Lines of the tape have neither ids of messages nor decisions. */
  readonly isStrict: boolean
  /** Default path of `save`. */
  readonly sessionFile: string
  recorder(): Recorder
  /** Saves a session file; returns why it could not. */
  save(path: string): Promise<string | undefined>
  /** Registers the socket. False if clients cannot find it. */
  listens(socket: string): boolean
  /** Set if messages may be held from the start; the gate is then already loaded. */
  readonly intercept?: LoadedIntercept
}
