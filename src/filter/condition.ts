import type { CompiledPath } from '../json-path/index.js'
import type { Direction, Transport } from '../model/index.js'
import type { NameField, NumberField } from './fields.js'
import type { FilterFlag, FindingLevel, SubjectStatus } from './subject.js'

/** How a text is matched. */
export interface TextTest {
  /** `glob`: `*` matches anything. `contains`: ignores letter case. `pattern`: RE2. */
  readonly how: 'glob' | 'exact' | 'contains' | 'pattern'
  /** As written, without quotes. */
  readonly text: string
  readonly ignoreCase?: boolean
}

export type Operator = '=' | '!=' | '<' | '<=' | '>' | '>='

/** A JSON value to compare with. */
export type Literal = string | number | boolean | null

export type PathTest =
  | { readonly how: 'exists' }
  | { readonly how: 'compare'; readonly operator: Operator; readonly value: Literal }
  | { readonly how: 'text'; readonly test: TextTest }

/** A filter as a tree. */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'flag'; readonly flag: FilterFlag }
  | { readonly kind: 'direction'; readonly direction: Direction }
  | { readonly kind: 'transport'; readonly transport: Transport }
  | { readonly kind: 'status'; readonly status: SubjectStatus }
  | {
      readonly kind: 'number'
      readonly field: NumberField
      readonly operator: Operator
      readonly value: number
      /** As written. */
      readonly shown: string
    }
  | { readonly kind: 'name'; readonly field: NameField; readonly test: TextTest }
  | { readonly kind: 'id'; readonly id: string }
  /** A rule's findings, by rule id or pack. */
  | { readonly kind: 'finding'; readonly test: TextTest }
  | { readonly kind: 'level'; readonly level: FindingLevel }
  /** Anywhere in the text of the message. */
  | { readonly kind: 'text'; readonly test: TextTest }
  /** A word without a key: matched in the text, the method and the name. */
  | { readonly kind: 'word'; readonly test: TextTest }
  | { readonly kind: 'path'; readonly path: CompiledPath; readonly test: PathTest }
