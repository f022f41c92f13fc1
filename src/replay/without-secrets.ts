import { Redactor, literalRule } from '../redaction/index.js'
import { jsonIn } from '../wire/index.js'

/** Members of outcomes and comparisons that hold exact JSON text. */
const jsonMembers = new Set(['original', 'sent', 'response', 'recorded', 'params', 'before', 'after'])

/** Redacts secrets in the output of a replay. */
export type WithoutSecrets = <T>(told: T) => T

/**
 * Applied to every screen, report and result file of a replay: the live server's responses and the values of
 * `--set` were never redacted. Comparisons are made earlier, of the exact texts.
 *
 * @param redaction of the recording, as named in its first line; if recorded without it, nothing is redacted here
 * @param secrets known secrets; none is empty
 */
export function createWithoutSecrets(
  redaction: string | undefined,
  secrets: readonly string[] = [],
): WithoutSecrets {
  if (redaction === 'none') return (told) => told
  const rules = secrets.map((secret) => literalRule('environment', secret))
  const redactor = new Redactor({ defaults: true, rules, tag: () => '' })

  /** The member's name also decides whether its value is a secret. */
  function jsonOf(text: string, member: string | undefined): string {
    if (jsonIn(text) === undefined) return redactor.text(text)
    if (member === undefined) return redactor.json(text)?.raw ?? text
    const head = `{${JSON.stringify(member)}:`
    const found = redactor.json(`${head}${text}}`)
    // If the name itself is a secret, the head changes; only the value is needed.
    if (!found?.raw.startsWith(head)) return redactor.json(text)?.raw ?? text
    return found.raw.slice(head.length, -1)
  }

  function valueOf(value: unknown, name?: string, member?: string): unknown {
    if (typeof value === 'string')
      return name !== undefined && jsonMembers.has(name) ? jsonOf(value, member) : redactor.text(value)
    if (Array.isArray(value)) return value.map((each) => valueOf(each))
    if (typeof value !== 'object' || value === null) return value
    const { place } = value as { readonly place?: unknown }
    const last: unknown = Array.isArray(place)
      ? place.findLast((step) => typeof step === 'string')
      : undefined
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [
        key,
        valueOf(each, key, key === 'params' ? key : typeof last === 'string' ? last : undefined),
      ]),
    )
  }

  return (told) => valueOf(told) as typeof told
}
