/** Which names (of members, variables, flags, headers, query parameters) say that their value is a secret. */

/** `_` where a name may have a joint: any run of what is no letter and no digit. In the order of preference. */
const terms = [
  'pass_word',
  'pass_wd',
  'pass_phrase',
  'pass_code',
  'pwd',
  'secret',
  'token',
  'api_key',
  'authorization',
  'authorisation',
  'bearer',
  'private_key',
  'access_key',
] as const

/** Words behind a term that leave it a secret: `secret_key`, `tokenValue`, `passwordHash`, `token2`. */
const suffixes = [
  'key',
  'value',
  'val',
  'hash',
  'hashed',
  'text',
  'string',
  'str',
  'raw',
  'plain',
  'base64',
  'b64',
  'encoded',
  'encrypted',
  'data',
  'header',
  'param',
  'env',
  'var',
  'confirm',
  'confirmation',
  'confirmed',
  'repeat',
  'old',
  'new',
  'current',
  'prod',
  'production',
  'dev',
  'test',
  'live',
  'staging',
  '[0-9]',
] as const

const anyOf = (words: readonly string[]): string => words.join('|').replaceAll('_', '_?')
/** Without the flag `u`, so that only ASCII counts, as for the trigger: no `ſ` for `s`, no Kelvin sign for `k`. */
const secretName = new RegExp(`(${anyOf(terms)})(?:_?s)?(?:_?(?:${anyOf(suffixes)}))*_?$`, 'i')

/** Whose tokens a model counts. */
const counted = [
  ['input', 'output', 'prompt', 'completion', 'reasoning', 'thinking', 'cached', 'audio'],
  ['new', 'context', 'cache', 'text', 'image', 'video', 'model', 'response', 'generated', 'generation'],
  ['window', 'read', 'write', 'creation', 'llm', 'per', 'total', 'used', 'prediction', 'sample', 'chunk'],
].flat()

/** Counters of model tokens: nothing but known words before `tokens`, or the word before it says so. */
const harmlessName = new RegExp(
  `^_?(?:max|min|num|total|used|remaining)(?:_?(?:${anyOf(counted)}))*_?tokens_?$|(?:${anyOf(counted.slice(0, 8))})_?tokens_?$`,
  'i',
)

const joint = /[^\p{L}\p{N}]+/gu

/** A term and its suffixes stand at the end of a name, however long the name is. */
const longestTail = 128

/** The term by which a name, decoded, says that its value is a secret; undefined when it says nothing. */
export function secretTermOf(name: string): string | undefined {
  const tail = (name.length > longestTail ? name.slice(-longestTail) : name).replace(joint, '_')
  const term = secretName.exec(tail)?.[1]
  return term === undefined || harmlessName.test(tail) ? undefined : term.replace('_', '').toLowerCase()
}

const mostNames = 4096
const longestName = 128

/** Remembers what was found out about names, which are few and come again and again. Bounded. */
export class NameCache<T> {
  readonly #known = new Map<string, T>()
  readonly #judge: (name: string) => T

  constructor(judge: (name: string) => T) {
    this.#judge = judge
  }

  get(name: string): T {
    if (name.length > longestName) return this.#judge(name)
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const verdict = this.#judge(name)
    if (this.#known.size >= mostNames) this.#known.clear()
    // A copy: a name cut out of a message would keep all of the message alive.
    this.#known.set(JSON.parse(JSON.stringify(name)) as string, verdict)
    return verdict
  }
}
