import { marker } from './marker.js'
import { secretTermOf } from './secret-names.js'

/** What a flag or variable of a command line says about a secret. */
interface NamedArgument {
  readonly term: string
  /** What stays of the argument, when its value is part of it; otherwise its value is the next argument. */
  readonly kept?: string
}

/** `--token=` and its value in the next word. */
const emptyFlag = /^--?([^=]+)=$/
const flag = /^--?([^=]+)$/
const assigned = /^((?:--?|\/)?([A-Za-z_][A-Za-z0-9_.-]*)=)./s

function namedArgument(argument: string): NamedArgument | undefined {
  const [, kept, name] = assigned.exec(argument) ?? []
  if (kept !== undefined && name !== undefined) {
    const term = secretTermOf(name)
    return term === undefined ? undefined : { term, kept }
  }
  const flagName = (emptyFlag.exec(argument) ?? flag.exec(argument))?.[1]
  if (flagName === undefined || flagName.startsWith('no-')) return undefined
  const term = secretTermOf(flagName)
  return term === undefined ? undefined : { term }
}

/**
 * Argv without secrets: `--token X`, `--api-key=X`, `API_KEY=X`, and in every other argument whatever `redactText`
 * finds.
 */
export function redactCommand(
  argv: readonly string[],
  defaults: boolean,
  counted: (rule: string) => void,
  redactText: (text: string) => string,
): string[] {
  let due: string | undefined
  return argv.map((argument) => {
    const term = due
    const named = defaults ? namedArgument(argument) : undefined
    due = named?.kept === undefined ? named?.term : undefined
    // Even what looks like a flag itself may be the value; what follows it is then taken for its value in turn.
    if (term !== undefined && argument !== '') {
      counted(`key:${term}`)
      return marker
    }
    if (named?.kept !== undefined) {
      counted(`key:${named.term}`)
      return named.kept + marker
    }
    return redactText(argument)
  })
}
