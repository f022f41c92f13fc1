/** Gives texts numbers, so that columns can hold them and the page gets each only once. 0 is the empty text. */
export interface Words {
  numberOf(text: string): number
  wordOf(number: number): string
  /** Those that were added since this was asked last. */
  takeNew(): string[]
}

/** Characters that are remembered; a recording in which every note is different ends in empty ones. */
const mostChars = 24 << 20
/** Characters of one. */
export const longestWord = 200

export function createWords(): Words {
  const numbers = new Map<string, number>([['', 0]])
  const words: string[] = ['']
  let chars = 0
  let sent = 0
  return {
    numberOf(text) {
      if (text === '') return 0
      const known = numbers.get(text)
      if (known !== undefined) return known
      const short = text.length > longestWord ? `${text.slice(0, longestWord)}…` : text
      const again = numbers.get(short)
      if (again !== undefined) return again
      if (chars > mostChars) return 0
      // A slice would keep the whole chunk that it was cut from.
      const own = copyOf(short)
      chars += own.length
      numbers.set(own, words.length)
      words.push(own)
      return words.length - 1
    },
    wordOf: (number) => words[number] ?? '',
    takeNew() {
      const fresh = words.slice(sent)
      sent = words.length
      return fresh
    },
  }
}

function copyOf(text: string): string {
  let copy = ''
  for (const char of text) copy += char
  return copy
}
