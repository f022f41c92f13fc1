import { addMember, BudgetSpent, removeValues, type CompiledPath } from '../../json-path/index.js'
import {
  decodeString,
  kindAt,
  membersOf,
  skipString,
  skipWhiteSpace,
  spliceText,
  type Span,
  type TextEdit,
  longestMessage,
} from '../../wire/index.js'
import { RuleFailure } from './failure.js'
import { replaceAll } from './replacement.js'
import type { RuleAction } from './rule.js'

type ActionOf<K extends RuleAction['kind']> = Extract<RuleAction, { kind: K }>

/** For all strings of one message: other messages wait meanwhile. */
const longestReplaceMs = 1000

/**
 * Sets values at their paths, one path after the other. The path's target is replaced; a missing last member is added.
 * The rest keeps its exact characters. Throws RuleFailure.
 */
export function setValues(message: string, { values }: ActionOf<'set'>): string {
  let text = message
  for (const { path, text: value } of values) {
    const found = outermost(find(path, text))
    if (found.length > 0) {
      text = spliceText(
        text,
        found.map(({ start, end }) => ({ start, end, text: value })),
      )
      continue
    }
    const edit = addMember(text, whole(text), path, value)
    if (!edit) throw new RuleFailure(`${path.text} cannot be added to the message`)
    text = spliceText(text, [edit])
  }
  return text
}

/** Removes the targets of the paths, with names and commas. Missing targets are ignored. Throws RuleFailure. */
export function removePaths(message: string, { paths }: ActionOf<'remove'>): string {
  let text = message
  for (const path of paths) {
    const found = find(path, text)
    if (found.length === 0) continue
    const edits = guarded(path, () => removeValues(text, whole(text), found))
    if (!edits) throw new RuleFailure(`${path.text} is the whole message`)
    text = spliceText(text, edits)
  }
  return text
}

/** Replaces matches inside strings, with escapes decoded; member names are not searched. Throws RuleFailure. */
export function replaceMatches(message: string, action: ActionOf<'replace'>): string {
  const endsMs = performance.now() + longestReplaceMs
  const isLate = (): boolean => performance.now() > endsMs
  const edits: TextEdit[] = []
  for (const place of placesOf(message, action.in)) {
    for (const { start, end } of stringsIn(message, place)) {
      const edit = replaceIn(message, { start, end }, action, isLate)
      if (edit) edits.push(edit)
    }
  }
  return spliceText(message, edits)
}

function replaceIn(
  message: string,
  { start, end }: Span,
  { pattern, with: pieces }: ActionOf<'replace'>,
  isLate: () => boolean,
): TextEdit | undefined {
  const before = decodeString(message, start, end)
  try {
    const after = replaceAll(before, pattern, pieces, longestMessage, isLate)
    return after === undefined || after === before ? undefined : { start, end, text: JSON.stringify(after) }
  } catch (problem) {
    if (problem instanceof RangeError) throw new RuleFailure(problem.message)
    throw problem
  }
}

/** Places to replace in: the path's targets, or the message's payload. */
function placesOf(message: string, path: CompiledPath | undefined): readonly Span[] {
  if (path) return outermost(find(path, message))
  const members = membersOf(message, 0)
  return members.filter(({ name }) => name === 'params' || name === 'result' || name === 'error')
}

/** The string values within a place. Reads each character once. */
function* stringsIn(text: string, { start, end }: Span): Iterable<Span> {
  let pos = start
  while (pos < end) {
    if (text.charCodeAt(pos) !== 0x22) {
      pos += 1
      continue
    }
    const after = skipString(text, pos)
    if (text.charCodeAt(skipWhiteSpace(text, after)) !== 0x3a) yield { start: pos, end: after }
    pos = after
  }
}

function find(path: CompiledPath, text: string): readonly Span[] {
  // Paths do not apply to other values, such as a batch within a batch.
  if (kindAt(text, 0) !== 'object') throw new RuleFailure('the message is not a JSON object')
  return guarded(path, () => path.find(text, whole(text)))
}

function guarded<T>(path: CompiledPath, run: () => T): T {
  try {
    return run()
  } catch (problem) {
    if (problem instanceof BudgetSpent)
      throw new RuleFailure(`${path.text} takes too long to evaluate on the message`)
    throw problem
  }
}

function whole(text: string): Span {
  return { start: 0, end: text.length }
}

/** In text order, without spans nested in others. */
function outermost(spans: readonly Span[]): Span[] {
  const kept: Span[] = []
  for (const span of spans.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (span.start >= (kept.at(-1)?.end ?? 0)) kept.push(span)
  }
  return kept
}
