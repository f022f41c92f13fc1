import { isFlagValue, judgeFlag, loginArgument } from './flags.js'
import { marker } from './marker.js'
import { isPlaceholder } from './secret-looks.js'
import { judgeName, type NameVerdict } from './secret-names.js'
import { redactUrl } from './url.js'

/** A flag or variable of a command line that names a secret. */
interface NamedArgument {
  readonly verdict: NameVerdict
  /** The part of the argument that is kept, if it contains the value; otherwise the value is the next argument. */
  readonly kept?: string
}

/** `--token=` with its value in the next word. */
const emptyFlag = /^--?([^=]+)=$/
const flag = /^--?([^=]+)$/
/** `--token=x`, `TOKEN=x`, `/token=x`, and Docker's `-eTOKEN=x`. */
const assigned = /^((?:-e(?=[A-Z])|--?|\/)?([A-Za-z_][A-Za-z0-9_.-]*)=)./s

function namedArgument(argument: string): NamedArgument | undefined {
  const [, kept, name] = assigned.exec(argument) ?? []
  if (kept !== undefined && name !== undefined) {
    const verdict = kept.startsWith('-') && !kept.startsWith('-e') ? judgeFlag(name) : judgeName(name)
    return verdict && { verdict, kept }
  }
  const flagName = (emptyFlag.exec(argument) ?? flag.exec(argument))?.[1]
  const verdict = flagName === undefined ? undefined : judgeFlag(flagName)
  return verdict && { verdict }
}

/**
 * Argv without secrets: `--token X`, `--api-key=X`, `API_KEY=X`, `mysql -pX`, and in every other argument the
 * secrets that `redactText` finds.
 */
export function redactCommand(
  argv: readonly string[],
  defaults: boolean,
  counted: (rule: string) => void,
  redactText: (text: string) => string,
): string[] {
  if (!defaults) return argv.map(redactText)
  let due: NameVerdict | undefined
  return argv.map((argument, i) => {
    const verdict = due
    const named = namedArgument(argument)
    due = named?.kept === undefined ? named?.verdict : undefined
    // The value may look like a flag itself; the next argument is then treated as that flag's value.
    if (verdict !== undefined && argument !== '' && isFlagValue(argument, verdict, true)) {
      counted(`key:${verdict.term}`)
      return marker
    }
    const login = loginArgument(argv, i)
    if (login !== undefined) {
      counted('key:login')
      return login.kept + marker
    }
    if (named?.kept !== undefined && isValue(argument.slice(named.kept.length), named.verdict)) {
      counted(`key:${named.verdict.term}`)
      return named.kept + marker
    }
    return redactText(
      /^https?:\/\//.test(argument) ? redactUrl(argument, { counted, text: redactText }) : argument,
    )
  })
}

function isValue(value: string, verdict: NameVerdict): boolean {
  return verdict.needs === 'any' ? !isPlaceholder(value) : isFlagValue(value, verdict, true)
}
