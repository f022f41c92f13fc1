/** Numbers that are the same in every run. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const digits = '0123456789'
const alphabets: Readonly<Record<string, string>> = {
  w: lower + upper + digits,
  a: lower + digits,
  A: upper + digits,
  L: lower + upper,
  h: '0123456789abcdef',
  d: digits,
  b: `${lower}${upper}${digits}_-`,
  B: `${lower}${upper}${digits}+/`,
}

/** A template with its holes filled: `{w20}` letters and digits, `{h32}` hexadecimal digits, `{u}` a UUID, … */
export function fill(template: string, random: () => number): string {
  const some = (alphabet: string, length: number): string =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('')
  return template.replace(/\{([a-zA-Z])(\d*)\}/g, (_, kind: string, length: string) => {
    if (kind === 'u') return [8, 4, 4, 4, 12].map((size) => some('0123456789abcdef', size)).join('-')
    const alphabet = alphabets[kind] ?? ''
    // A digit and a letter at least, and no joint at the ends, as nearly every real one has.
    for (;;) {
      const made = some(alphabet, Number(length))
      const isMixed =
        Number(length) < 12 || !/[wabAhB]/.test(kind) || (/\d.*\d/.test(made) && /[A-Za-z]/.test(made))
      if (isMixed && /^[A-Za-z0-9].*[A-Za-z0-9]$|^.$/.test(made)) return made
    }
  })
}
