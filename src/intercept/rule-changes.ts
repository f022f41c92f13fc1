import { readParts, type FrameText } from '../wire/index.js'
import { unchanged, type Decision } from './decision.js'
import { idInUseWords } from './fault.js'
import { cannotApplyError, cannotApplyWords } from './rules/index.js'

/**
 * How a held message that a rule changed is forwarded. Requests that can no longer be forwarded get an error response;
 * the rest of their batch is forwarded, if there is one.
 *
 * @param refuses whether a message, by its original index, cannot be forwarded as this text
 */
export function goesOn(
  { parts }: Pick<FrameText, 'parts'>,
  decision: Decision,
  refuses: (part: number, text: string) => boolean,
): Decision {
  const { text, rule = '', kept = [...parts.keys()] } = decision
  if (text === undefined) return decision
  const texts = readParts(text).parts.map(({ start, end }) => text.slice(start, end))
  const refused = new Set(
    texts.length === kept.length ? kept.filter((place, i) => refuses(place, texts[i]!)) : [],
  )
  if (refused.size === 0) return decision
  const why = cannotApplyWords(rule, idInUseWords)
  const errors = [...refused].map((place) => cannotApplyError(parts[place]!.envelope.id!, why))
  const answers = [...decision.answers, ...errors]
  const left = kept.filter((place) => !refused.has(place))
  if (left.length === 0) return { ...unchanged, verdict: 'drop', rule: decision.rule, why, answers }
  const rest = texts.filter((_, i) => !refused.has(kept[i]!))
  return { ...decision, text: `[${rest.join(',')}]`, kept: left, answers }
}
