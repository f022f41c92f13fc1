import { isFlagValue, judgeFlag } from './flags.js'
import { judgeName, nameCache, type NameVerdict } from './secret-names.js'

const manifest: NameVerdict = { term: 'kubernetes-secret', needs: 'any' }
const jwk: NameVerdict = { term: 'jwk', needs: 'credentials' }
const jwkMembers = new Set(['d', 'p', 'q', 'dp', 'dq', 'qi', 'k'])
const flags = nameCache(judgeFlag)

/**
 * Verdicts on a value from its neighbours in a JSON text: the name in the previous member
 * (`"name":"API_KEY","value":"x"`), the flag in the previous element (`"--password","x"`), the kind of its object.
 */
export class JsonNeighbours {
  readonly #text: string
  /** By depth: the verdict of the last member or element there on the next. */
  readonly #due: (NameVerdict | undefined)[] = []
  #isManifest: boolean | undefined
  #isJwk: boolean | undefined

  constructor(text: string) {
    this.#text = text
  }

  enter(depth: number): void {
    this.#due[depth] = undefined
  }

  /** The verdict on the value of a member with this name. */
  ofMember(depth: number, name: string): NameVerdict | undefined {
    if (name === 'value') return this.#due[depth]
    if (name === 'data' || name === 'stringData') {
      this.#isManifest ??= /"kind"\s{0,8}:\s{0,8}"Secret"/.test(this.#text)
      return this.#isManifest ? manifest : undefined
    }
    if (name.length > 2 || !jwkMembers.has(name)) return undefined
    this.#isJwk ??= this.#text.includes('"kty"')
    return this.#isJwk ? jwk : undefined
  }

  /** Whether the member's value may be the name of another value. */
  static isNaming(name: string): boolean {
    return name === 'name' || name === 'key'
  }

  /** Takes the value of such a member. */
  named(depth: number, value: string): void {
    this.#due[depth] = judgeName(value)
  }

  /** The verdict on a string in an array if it is the secret after a flag; it may be a flag itself. */
  ofElement(depth: number, value: string): NameVerdict | undefined {
    const due = this.#due[depth]
    this.#due[depth] =
      value.startsWith('-') && !value.includes('=') ? flags.get(value.replace(/^--?/, '')) : undefined
    return due !== undefined && isFlagValue(value, due, true) ? due : undefined
  }
}
