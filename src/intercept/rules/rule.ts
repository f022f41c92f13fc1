import type { RE2JS } from 're2js'
import type { Filter } from '../../filter/index.js'
import type { CompiledPath } from '../../json-path/index.js'
import type { ReplacementPiece } from './replacement.js'

/** What a rule does to a message. JSON values are exact text on one line. */
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
      /** Where; in all of the payload without it. */
      readonly in?: CompiledPath
    }
  | { readonly kind: 'respond'; readonly member: 'result' | 'error'; readonly text: string }
  | { readonly kind: 'duplicate'; readonly copies: number }

export type ActionKind = RuleAction['kind']

export interface Rule {
  readonly name: string
  readonly when: Filter
  /**
   * Answers only, and then names are those of the requests they answer. Otherwise all messages, and names are the
   * message's own.
   */
  readonly answersOnly: boolean
  readonly action: RuleAction
  /** How often it is applied at most. */
  readonly times?: number
  /** It is applied to every so-manyth message that it is about. */
  readonly every?: number
  /** How likely it is applied, 0 to 1. */
  readonly probability?: number
  /** As written, the rule's text: two with the same one are the same rule. */
  readonly source: string
}

export interface ParsedRules {
  readonly seed: number
  readonly rules: readonly Rule[]
}
