import { InvalidArgumentError, Option } from 'commander'
import type { RecordFlag } from '../record-flag.js'

/** An option from the table shared with `record`. */
export function optionOf({ long, short, value, help, parse }: Omit<RecordFlag, 'key'>): Option {
  const names = short === undefined ? long : `${short}, ${long}`
  const option = new Option(value === undefined ? names : `${names} <${value}>`, help)
  if (!parse) return option
  return option.argParser((text: string, before: unknown) => {
    try {
      return parse(text, before)
    } catch (error) {
      throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
    }
  })
}
