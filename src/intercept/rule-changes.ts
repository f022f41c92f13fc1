import { idInUseWords } from './fault.js'
import { cannotApplyError, cannotApplyWords, type RuleDecision } from './rules/index.js'
import { readParts, type FrameText } from '../wire/index.js'

/** A rule's changes to a message that is not forwarded at once. */
export interface RuleChanges {
  readonly rule?: string
  readonly text?: string
  /** For a batch that lost elements: original indexes of the remaining ones. */
  readonly kept?: readonly number[]
  readonly copies?: number
  readonly answers?: readonly string[]
}

export function ruleOf({ rule, text, kept, copies, answers }: RuleDecision): RuleChanges {
  return {
    rule,
    ...(text !== undefined && { text }),
    ...(kept && { kept }),
    ...(copies > 0 && { copies }),
    ...(answers.length > 0 && { answers }),
  }
}

/** Why the whole message is dropped, and the responses to its sender. */
export interface Refused {
  readonly why: string
  readonly answers: readonly string[]
  readonly rule?: string
}

/**
 * The text to forward for a held message that a rule changed. Requests that can no longer be forwarded get an error
 * response; the rest of their batch is forwarded.
 *
 * @param refuses whether a message, by its original index, cannot be forwarded as this text
 */
export function goesOn(
  { offer, ...changes }: RuleChanges & { readonly offer: Pick<FrameText, 'parts'> },
  refuses: (part: number, text: string) => boolean,
): RuleChanges | Refused {
  const { text, rule, copies, answers = [], kept = [...offer.parts.keys()] } = changes
  if (text === undefined) return changes
  const texts = readParts(text).parts.map(({ start, end }) => text.slice(start, end))
  const refused = new Set(
    texts.length === kept.length ? kept.filter((place, i) => refuses(place, texts[i]!)) : [],
  )
  if (refused.size === 0) return changes
  const why = cannotApplyWords(rule ?? '', idInUseWords)
  const errors = [...refused].map((place) => cannotApplyError(offer.parts[place]!.envelope.id!, why))
  const by = rule === undefined ? {} : { rule }
  const left = kept.filter((place) => !refused.has(place))
  const all = [...answers, ...errors]
  if (left.length === 0) return { why, answers: all, ...by }
  const rest = texts.filter((_, i) => !refused.has(kept[i]!))
  return {
    ...by,
    text: `[${rest.join(',')}]`,
    kept: left,
    answers: all,
    ...(copies !== undefined && { copies }),
  }
}
