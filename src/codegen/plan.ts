import type { Expected } from './expected.js'

/** An argument: a value, a value from an earlier response, or a secret missing from the recording. */
export type Argument =
  | { readonly kind: 'value'; readonly value: null | boolean | number | string }
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'secret'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Argument[] }
  | { readonly kind: 'map'; readonly members: readonly (readonly [name: string, item: Argument])[] }

/** One test of a generated file. */
export interface Step {
  readonly title: string
  readonly method: string
  readonly params: Argument
  readonly outcome:
    | { readonly kind: 'result'; readonly expected: Expected; readonly json?: Expected }
    | { readonly kind: 'error'; readonly message: string }
    | {
        readonly kind: 'names'
        readonly member: string
        readonly nameMember: string
        readonly names: readonly string[]
      }
  /** Values of the response that later requests send back. */
  readonly variables: readonly Variable[]
}

export interface TestPlan {
  readonly steps: readonly Step[]
  readonly variables: readonly string[]
  readonly secrets: readonly string[]
  /** Omitted parts with the reasons, in words. */
  readonly left: readonly string[]
}

/** A value of a response that a later request sends back. */
export interface Variable {
  readonly name: string
  /** Names and indexes from the result to the value; for `json`, from the value in its text. */
  readonly path: readonly (string | number)[]
  readonly within: 'result' | 'json'
  /** For a word in a sentence: a pattern with one group. */
  readonly pattern?: string
  readonly value: string | number
}
