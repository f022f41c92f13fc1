import { isFlagValue, judgeFlag, loginArgument } from './flags.js'
import { marker } from './marker.js'
import { isPlaceholder } from './secret-looks.js'
import { judgeName, type NameVerdict } from './secret-names.js'
import { redactUrl } from './url.js'

/** What a flag or variable of a command line says about a secret. */
interface NamedArgument {
  readonly verdict: NameVerdict
  /** What stays of the argument, when its value is part of it; otherwise its value is the next argument. */
  readonly kept?: string
}

/** `--token=` and its value in the next word. */
const emptyFlag = /^--?([^=]+)=$/
const flag = /^--?([^=]+)$/
/** `--token=x`, `TOKEN=x`, `/token=x`, and `-eTOKEN=x` as Docker has it. */
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
 * Argv without secrets: `--token X`, `--api-key=X`, `API_KEY=X`, `mysql -pX`, and in every other argument whatever
 * `redactText` finds.
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
    // Even what looks like a flag itself may be the value; what follows it is then taken for its value in turn.
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
