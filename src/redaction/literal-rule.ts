import type { Span } from '../wire/index.js'
import { mostMarks, TooManyMarks } from './finding.js'
import type { TextRule } from './text-redactor.js'

/** A rule that redacts a known secret wherever it occurs. @param secret not empty */
export function literalRule(name: string, secret: string): TextRule {
  return {
    kind: 'text',
    name,
    find(text) {
      const found: Span[] = []
      for (
        let start = text.indexOf(secret);
        start !== -1;
        start = text.indexOf(secret, start + secret.length)
      ) {
        if (found.length >= mostMarks) throw new TooManyMarks()
        found.push({ start, end: start + secret.length })
      }
      return found
    },
  }
}
