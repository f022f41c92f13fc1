/** Set by `npm run test:long`. */
export const isLong = process.env['WIRETAPE_LONG'] !== undefined

/**
 * How often a property is tried: a twelfth of `full`, since the tests run all the time; all of it in `npm run
 * test:long`.
 */
export function runs(full: number): number {
  return isLong ? full : Math.ceil(full / 12)
}
