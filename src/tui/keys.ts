/**
 * A key as named in the key table: a printable character itself, else `up`, `pageup`, `f5`, `enter`, `esc`,
 * `ctrl+s`, `alt+x`; `paste` carries the pasted text.
 */
export type Key = { readonly name: string; readonly text?: string }

/** Turns the input of a terminal in raw mode into keys. */
export interface KeyReader {
  push(text: string): Key[]
  /** True while an escape may still become a longer sequence. */
  readonly pending: boolean
  /** No more input followed: the pending escape is a key of its own. */
  settle(): Key[]
}

/** Maximum length of an escape sequence; longer ones are no keys. */
const longestSequence = 256
/** Maximum length of a kept paste. */
const longestPaste = 16 * 1024 * 1024

/** Start and end of a control string, which terminals send as a reply (ECMA-48, 5.6; BEL is from xterm). */
const stringBegins = /^\u001b[\]PX^_]/
const stringEnds = /\u0007|\u001b\\/

const pasteBegins = '\u001b[200~'
const pasteEnds = '\u001b[201~'

export function createKeyReader(): KeyReader {
  let rest = ''
  let pasted: string | undefined
  let inString = false

  function take(keys: Key[], final: boolean): Key[] {
    while (rest !== '') {
      if (pasted !== undefined) {
        if (!takePaste(keys)) return keys
        continue
      }
      // These two characters alone are a key with Alt.
      if (!inString && stringBegins.test(rest)) {
        if (rest.length === 2 && !final) return keys
        inString = rest.length > 2
      }
      if (inString) {
        if (!passString(final)) return keys
        continue
      }
      const { key, length } = firstKey(rest, final)
      if (length === 0) return keys
      rest = rest.slice(length)
      if (key === 'paste') pasted = ''
      else if (key !== undefined) keys.push({ name: key })
    }
    return keys
  }

  function takePaste(keys: Key[]): boolean {
    const end = rest.indexOf(pasteEnds)
    if (end === -1) {
      // The end mark may be split across chunks.
      const keep = Math.min(rest.length, pasteEnds.length - 1)
      pasted = (pasted! + rest.slice(0, rest.length - keep)).slice(0, longestPaste)
      rest = rest.slice(rest.length - keep)
      return false
    }
    keys.push({ name: 'paste', text: (pasted! + rest.slice(0, end)).slice(0, longestPaste) })
    rest = rest.slice(end + pasteEnds.length)
    pasted = undefined
    return true
  }

  /** False while the end is still to come. A cut-off string ends when no more input follows. */
  function passString(final: boolean): boolean {
    const end = stringEnds.exec(rest)
    // The end mark may be split across chunks.
    if (end) rest = rest.slice(end.index + end[0].length)
    else rest = rest.endsWith('\u001b') && !final ? '\u001b' : ''
    inString = end === null && !final
    return !inString
  }

  return {
    push(text) {
      rest += text
      return take([], false)
    },
    get pending() {
      return inString || (rest !== '' && pasted === undefined)
    },
    settle() {
      if (inString) passString(true)
      return pasted === undefined ? take([], true) : []
    },
  }
}

/** The first key of a text. `length` 0: more input is needed. */
function firstKey(text: string, final: boolean): { key?: string; length: number } {
  const char = String.fromCodePoint(text.codePointAt(0)!)
  if (char !== '\u001b') return { key: controls[char] ?? controlName(char) ?? char, length: char.length }
  if (text.length === 1) return final ? { key: 'esc', length: 1 } : { length: 0 }
  const next = text[1]!
  if (next === '[' || next === 'O') {
    const found = /^\u001b(?:\[\[[ -~]|\[(?!\[)[0-?]*[ -/]*[@-~]|O[ -~])/.exec(text)
    if (found) {
      const sequence = found[0]
      if (sequence === pasteBegins) return { key: 'paste', length: sequence.length }
      const key = nameOf(sequence)
      return key === undefined ? { length: sequence.length } : { key, length: sequence.length }
    }
    if (text.length < longestSequence && !final) return { length: 0 }
    return { key: 'esc', length: 1 }
  }
  if (next === '\u001b') return { key: 'esc', length: 1 }
  const follower = String.fromCodePoint(text.codePointAt(1)!)
  return { key: `alt+${controls[follower] ?? follower}`, length: 1 + follower.length }
}

const controls: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  '\u007f': 'backspace',
  '\u0008': 'backspace',
}

function controlName(char: string): string | undefined {
  const code = char.charCodeAt(0)
  return code < 0x20 ? `ctrl+${String.fromCharCode(code + 0x60)}` : undefined
}

/** The key of a CSI or SS3 sequence (xterm, VT220, rxvt, the Linux console), without modifiers. */
function nameOf(sequence: string): string | undefined {
  const plain = sequence.replace(/^\u001b(?:\[|O)/, '').replace(/;\d+(?=[A-Z~]$)/, '')
  return sequences[plain.replace(/^1(?=[A-Z]$)/, '')]
}

const sequences: Readonly<Record<string, string>> = {
  A: 'up',
  B: 'down',
  C: 'right',
  D: 'left',
  H: 'home',
  F: 'end',
  Z: 'shift+tab',
  M: 'enter',
  P: 'f1',
  Q: 'f2',
  R: 'f3',
  S: 'f4',
  '1~': 'home',
  '2~': 'insert',
  '3~': 'delete',
  '4~': 'end',
  '5~': 'pageup',
  '6~': 'pagedown',
  '7~': 'home',
  '8~': 'end',
  '11~': 'f1',
  '12~': 'f2',
  '13~': 'f3',
  '14~': 'f4',
  '15~': 'f5',
  '17~': 'f6',
  '18~': 'f7',
  '19~': 'f8',
  '20~': 'f9',
  '21~': 'f10',
  '23~': 'f11',
  '24~': 'f12',
  '[A': 'f1',
  '[B': 'f2',
  '[C': 'f3',
  '[D': 'f4',
  '[E': 'f5',
}
