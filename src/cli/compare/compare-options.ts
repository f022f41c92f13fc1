import { InvalidArgumentError, Option, type Command } from 'commander'

/** How responses are compared and reported, shared by all comparing commands. */
export interface CompareOptions {
  readonly level?: string
  /** Also compares per-run values. */
  readonly exact?: boolean
  readonly ignore?: readonly string[]
  readonly match?: readonly string[]
  readonly compareFile?: string | false
  readonly report?: readonly string[]
  readonly json?: boolean
}

export function addCompareOptions(command: Command): Command {
  return command
    .addOption(
      new Option('--level <level>', 'exact, semantic or schema (default: semantic)').argParser(
        (text: string) => {
          if (['exact', 'semantic', 'schema'].includes(text)) return text
          throw new InvalidArgumentError('Use exact, semantic or schema.')
        },
      ),
    )
    .option('--exact', 'also compare values that change on every run (times, ids)')
    .option('--ignore <JSONPath>', 'ignore this path in responses; repeatable', collect)
    .option(
      '--match <JSONPath=matcher>',
      'compare the values at this path with a matcher; repeatable',
      collect,
    )
    .option('--compare-file <file>', 'a compare file (default: <recording>.compare.yaml, if it exists)')
    .option('--no-compare-file', 'ignore the compare file beside the recording')
    .option(
      '--report <kind=file>',
      'also write a report: junit, json, markdown or github; repeatable',
      collect,
    )
    .option('--json', 'print JSON')
}

function collect(value: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), value]
}

/** For the help of commands that compare. */
export const matchersHelp = `
Matchers:
  any, type                     any value; any value of the same type
  timestamp, uuid, duration     a whole value, or inside a text
  number, number~0.5, number~5% any number; numbers within that distance
  cursor, unordered, /pattern/  opaque strings; any order; an RE2 pattern`
