import { escapeText } from '../../src/render/index.js'

const plain = /^[\u0020-\u007e]*$/

/** Text of a peer for one line: what is invisible or turns the reading direction around is shown as what it is. */
export function clean(text: string): string {
  return plain.test(text) ? text : escapeText(text)
}
