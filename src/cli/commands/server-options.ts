import { Option } from 'commander'
import { durationForms } from '../../model/index.js'
import { parseTimeout } from '../duration-option.js'
import { optionOf } from './option-of.js'

const usualTimeoutMs = 60_000

/** Values of a repeatable option, in order. */
export function collect(value: string, all: readonly string[] = []): string[] {
  return [...all, value]
}

/** For servers with a URL. */
export function headerOption(): Option {
  const help =
    'with --url: send this header with every request; ${NAME} comes from the environment; repeatable'
  return new Option('--header <name: value>', help).argParser(collect)
}

export function responseTimeout(): Option {
  return optionOf({
    long: '--timeout',
    value: 'time',
    help: `timeout of each response: ${durationForms}`,
    parse: parseTimeout,
  }).default(usualTimeoutMs, '60s')
}
