import type { RE2JS } from 're2js'
import type { Filter } from '../../filter/index.js'
import type { CompiledPath } from '../../json-path/index.js'
import type { ReplacementPiece } from './replacement.js'

/** A rule's action on a message. JSON values are exact text on one line. */
export type RuleAction =
  | { readonly kind: 'hold' | 'drop' | 'disconnect' }
  | { readonly kind: 'delay'; readonly leastMs: number; readonly mostMs: number }
  | {
      readonly kind: 'set'
      readonly values: readonly { readonly path: CompiledPath; readonly text: string }[]
    }
  | { readonly kind: 'remove'; readonly paths: readonly CompiledPath[] }
  | {
      readonly kind: 'replace'
      readonly pattern: RE2JS
      readonly with: readonly ReplacementPiece[]
      /** The part of the payload to replace in. @default the whole payload */
      readonly in?: CompiledPath
    }
  | { readonly kind: 'respond'; readonly member: 'result' | 'error'; readonly text: string }
  | { readonly kind: 'duplicate'; readonly copies: number }

export type ActionKind = RuleAction['kind']

export interface Rule {
  readonly name: string
  readonly when: Filter
  /** True: responses only, matched by the names of their requests. False: all messages, by their own names. */
  readonly answersOnly: boolean
  readonly action: RuleAction
  /** How often it is applied at most. */
  readonly times?: number
  /** Applied to every nth matching message. */
  readonly every?: number
  /** Probability that it is applied, 0 to 1. */
  readonly probability?: number
  /** The rule's text, as written: rules with equal text are equal. */
  readonly source: string
}

export interface ParsedRules {
  readonly seed: number
  readonly rules: readonly Rule[]
}
