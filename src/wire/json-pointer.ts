import { elementsOf, kindAt, memberOf, membersOf, skipValue, type Span } from './json-text.js'

/** One step of a JSON Pointer (RFC 6901), with its slash. */
export function pointerStep(step: string | number): string {
  if (typeof step === 'number' || !/[~/]/.test(step)) return `/${step}`
  return `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The steps of a JSON Pointer (RFC 6901). */
export function pointerSteps(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/**
 * Trusted: the value that the steps lead to from the value at `start`, if it exists. The last of members with the
 * same name counts.
 */
export function valueAt(text: string, start: number, steps: readonly string[]): Span | undefined {
  let value = start
  let end = -1
  for (const step of steps) {
    const kind = kindAt(text, value)
    const next: Span | undefined =
      kind === 'object'
        ? memberOf(membersOf(text, value), step)
        : kind === 'array'
          ? elementsOf(text, value)[Number(step)]
          : undefined
    if (!next) return undefined
    value = next.start
    end = next.end
  }
  return { start: value, end: end < 0 ? skipValue(text, value) : end }
}
