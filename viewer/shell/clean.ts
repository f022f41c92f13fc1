import { escapeText } from '../../src/render/index.js'

const plain = /^[\u0020-\u007e]*$/

/** A peer's text for one line: invisible and bidirectional characters are escaped. */
export function clean(text: string): string {
  return plain.test(text) ? text : escapeText(text)
}
