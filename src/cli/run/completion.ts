import type { Command } from 'commander'
import { clientKinds } from '../../clients/index.js'
import { exitCode } from '../exit-codes.js'
import type { Io } from '../io.js'

/** One command in a completion script. */
interface Entry {
  /** `record`, or `proxy start`. */
  readonly path: string
  readonly summary: string
  readonly options: readonly { readonly flag: string; readonly takesValue: boolean; readonly help: string }[]
  /** Words that may follow, besides options. */
  readonly words: readonly string[]
}

/** Takes the words from the program itself, so that scripts are always up to date. */
export async function runCompletion(
  shell: 'bash' | 'zsh' | 'fish',
  program: Command,
  io: Io,
): Promise<number> {
  const entries = program.commands.flatMap((command) => entriesOf(command, ''))
  await io.write({ bash, zsh, fish }[shell](entries))
  return exitCode.done
}

function entriesOf(command: Command, prefix: string): Entry[] {
  const path = `${prefix}${command.name()}`
  const takesClients = ['install', 'uninstall', 'status'].includes(path)
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? [])
  const entry: Entry = {
    path,
    summary: command.summary() || command.description(),
    options: [
      ...command.options.map(({ long, required, optional, description }) => ({
        flag: long ?? '',
        takesValue: required || optional,
        help: description,
      })),
      { flag: '--help', takesValue: false, help: 'print help' },
    ],
    words: [
      ...command.commands.map((each) => each.name()),
      ...choices,
      ...(takesClients ? clientKinds.map(({ id }) => id) : []),
    ],
  }
  return [entry, ...command.commands.flatMap((each) => entriesOf(each, `${path} `))]
}

function topWords(entries: readonly Entry[]): string[] {
  return entries.filter(({ path }) => !path.includes(' ')).map(({ path }) => path)
}

function bash(entries: readonly Entry[]): string {
  const cases = entries.map(
    ({ path, options, words }) =>
      `    '${path}') options='${options.map(({ flag }) => flag).join(' ')}' words='${words.join(' ')}' ;;`,
  )
  return `# Completion of wiretape for bash: wiretape completion bash >> ~/.bashrc
_wiretape() {
  local current=\${COMP_WORDS[COMP_CWORD]} command=\${COMP_WORDS[1]} options='--help --version' words=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '${topWords(entries).join(' ')} --help --version' -- "$current"))
    return
  fi
  # What follows -- is a command of its own.
  local word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    if [[ $word == -- ]]; then COMPREPLY=($(compgen -c -f -- "$current")); return; fi
  done
  case "$command" in proxy|trace|rules) ((COMP_CWORD > 2)) && command="$command \${COMP_WORDS[2]}" ;; esac
  case "$command" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$options" -- "$current"))
  else COMPREPLY=($(compgen -W "$words" -- "$current") $(compgen -f -- "$current")); fi
}
complete -o filenames -F _wiretape wiretape
`
}

/** Quotes a text with single quotes for zsh and fish. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', String.raw`\\`).replaceAll("'", String.raw`'\''`)}'`
}

function zsh(entries: readonly Entry[]): string {
  const cases = entries.map(({ path, options, words }) => {
    const described = options.map(({ flag, help }) => quoted(`${flag}:${help}`)).join(' ')
    return `    ${quoted(path)}) options=(${described}) words_=(${words.join(' ')}) ;;`
  })
  const commands = entries
    .filter(({ path }) => !path.includes(' '))
    .map(({ path, summary }) => `    ${quoted(`${path}:${summary}`)}`)
  return `#compdef wiretape
# Completion of wiretape for zsh: wiretape completion zsh > "\${fpath[1]}/_wiretape"
_wiretape() {
  local -a commands options words_
  local command=\${words[2]}
  commands=(
${commands.join('\n')}
  )
  if ((CURRENT == 2)); then _describe command commands; return; fi
  # What follows -- is a command of its own.
  local end=\${words[(i)--]}
  if ((end < CURRENT)); then shift $end words; ((CURRENT -= end)); _normal; return; fi
  case "$command" in proxy|trace|rules) ((CURRENT > 3)) && command="$command \${words[3]}" ;; esac
  case "$command" in
${cases.join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then _describe option options
  else ((\${#words_})) && _values word $words_; _files; fi
}
_wiretape "$@"
`
}

function fish(entries: readonly Entry[]): string {
  const lines = entries.flatMap(({ path, summary, options, words }) => {
    const [command = '', sub] = path.split(' ')
    const seen =
      sub === undefined
        ? `__fish_seen_subcommand_from ${command}`
        : `__fish_seen_subcommand_from ${command}; and __fish_seen_subcommand_from ${sub}`
    const start =
      sub === undefined
        ? [`complete -c wiretape -n __fish_use_subcommand -a ${command} -d ${quoted(summary)}`]
        : []
    return [
      ...start,
      ...words.map((word) => `complete -c wiretape -n ${quoted(seen)} -a ${word}`),
      ...options.map(
        ({ flag, takesValue, help }) =>
          `complete -c wiretape -n ${quoted(seen)} -l ${flag.slice(2)}${takesValue ? ' -r' : ''} -d ${quoted(help)}`,
      ),
    ]
  })
  return `# Completion of wiretape for fish: wiretape completion fish > ~/.config/fish/completions/wiretape.fish
${lines.join('\n')}
`
}
