import { compileRules, Redactor, type RuleSources } from '../../src/redaction/index.js'

/** Tags that can be read: the secret itself, marked. */
export const readableTag = (secret: string): string => `tag of ${secret}`

export function defaultRedactor(): Redactor {
  return new Redactor({ defaults: true, tag: readableTag })
}

/** A redactor with a user's rules only. */
export async function redactorOf(sources: RuleSources): Promise<Redactor> {
  const { rules, diagnostics } = await compileRules(sources)
  if (diagnostics.length > 0) throw new Error(diagnostics.map(({ message }) => message).join('\n'))
  return new Redactor({ defaults: false, rules, tag: readableTag })
}

export function rulesFile(rules: readonly object[]): RuleSources {
  return { file: { name: 'rules.json', text: JSON.stringify({ extends: null, rules }) } }
}

/** The text after redaction, found or not. */
export function redacted(raw: string, redactor = defaultRedactor()): string {
  return redactor.json(raw)?.raw ?? raw
}

/** One string after redaction as a value in a message. */
export function redactedString(value: string): string {
  const { params } = JSON.parse(redacted(JSON.stringify({ params: { value } }))) as {
    params: { value: string }
  }
  return params.value
}
