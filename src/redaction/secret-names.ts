/** Which names (of members, variables, flags, headers, query parameters) say that their value is a secret. */

/** In the order of preference, since a report names the term. */
const terms = [
  'password',
  'passwd',
  'passphrase',
  'passcode',
  'pwd',
  'secret',
  'token',
  'apikey',
  'authorization',
  'authorisation',
  'bearer',
  'privatekey',
  'accesskey',
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

const secretName = new RegExp(`(${terms.join('|')})s?(?:${suffixes.join('|')})*$`)

/** Counters of model tokens, and MCP's own handle for progress. */
const harmlessName =
  /^(?:max|min|num|total|used|remaining).*tokens$|(?:input|output|prompt|completion|reasoning|thinking|cached|audio)tokens$|progresstoken$/

const separators = /[^\p{L}\p{N}]/gu

/** A term and its suffixes stand at the end of a name, however long the name is. */
const longestTail = 128

/** The term by which a name, decoded, says that its value is a secret; undefined when it says nothing. */
export function secretTermOf(name: string): string | undefined {
  const tail = name.length > longestTail ? name.slice(-longestTail) : name
  const joined = tail.replace(separators, '').toLowerCase()
  const term = secretName.exec(joined)?.[1]
  return term === undefined || harmlessName.test(joined) ? undefined : term
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
