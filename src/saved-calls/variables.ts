/** Sources of variables for files of saved calls. */
export interface VariableSources {
  /** From the command line, which overrides files: exact JSON text by name. */
  readonly given: ReadonlyMap<string, string>
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Variables used. */
export interface UsedVariables {
  /** Names given on the command line and used by a file. */
  readonly names: Set<string>
  /** Environment values: secrets, never displayed. */
  readonly secrets: Set<string>
}

const variableName = /^[A-Za-z_][\w-]*$/

export function isVariableName(text: string): boolean {
  return variableName.test(text)
}

/** Looks up variables and, for `env:`, the environment. */
export interface Lookup {
  /** Exact JSON text. */
  variable(name: string): string | undefined
  environment(name: string): string | undefined
}

/**
 * The JSON of a text with `${name}` and `${env:NAME}` filled in; `$${` is `${`. A text of exactly one variable becomes
 * that variable's value, of any kind; in a longer text a value becomes text.
 *
 * @returns on failure, a message without values
 */
export function fillText(
  text: string,
  lookup: Lookup,
): { readonly json: string } | { readonly fault: string } {
  if (!text.includes('${')) return { json: JSON.stringify(text) }
  let fault: string | undefined
  let whole: string | undefined
  const filled = text.replaceAll(/\$\$\{|\$\{([^}]*)(\}?)/g, (all: string, name?: string, end?: string) => {
    if (name === undefined) return '${'
    const found = valueOf(name, end === '}', lookup)
    if ('fault' in found) {
      fault ??= found.fault
      return ''
    }
    if (all === text) whole = found.json
    const value: unknown = JSON.parse(found.json)
    if (typeof value === 'string') return value
    if (all !== text && typeof value === 'object' && value !== null)
      fault ??= `\${${name}} is an object or an array, which cannot be part of a string`
    return found.json
  })
  if (fault !== undefined) return { fault }
  return { json: whole ?? JSON.stringify(filled) }
}

function valueOf(
  name: string,
  isClosed: boolean,
  lookup: Lookup,
): { readonly json: string } | { readonly fault: string } {
  const [, variable] = /^env:(\w+)$/.exec(name) ?? []
  if (!isClosed || (variable === undefined && !variableName.test(name)))
    return { fault: 'expected ${name} or ${env:NAME}, and $${ for ${ itself' }
  if (variable !== undefined) {
    const value = lookup.environment(variable)
    return value === undefined
      ? { fault: `the environment variable ${variable} is not set` }
      : { json: JSON.stringify(value) }
  }
  const json = lookup.variable(name)
  return json === undefined
    ? { fault: `unknown variable ${name}: add it to variables, or use --var ${name}=VALUE` }
    : { json }
}
