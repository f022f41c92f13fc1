import { WiretapeError } from './error.js'

/** Allowed values of an option, and their description for a person. */
export type OptionShape = readonly [isFitting: (value: unknown) => boolean, hint: string]

/**
 * Checks options of the library: JavaScript callers have no compiler that reports wrong names or values.
 *
 * @param what word for the options: `option`
 * @param shapes all known options; an undefined value counts as absent
 * @throws WiretapeError `usage`
 */
export function checkShapes(
  what: string,
  given: unknown,
  shapes: Readonly<Record<string, OptionShape>>,
): void {
  const known = Object.keys(shapes).join(', ')
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new WiretapeError('usage', `the ${what}s must be an object`, { hint: `known members: ${known}` })
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(shapes, name))
      throw new WiretapeError('usage', `unknown ${what} ${name}`, { hint: `known: ${known}` })
    const [isFitting, hint] = shapes[name]!
    if (value !== undefined && !isFitting(value))
      throw new WiretapeError('usage', `the ${what} ${name} is invalid`, { hint })
  }
}

/** @throws WiretapeError `usage` for anything but a path */
export function checkPath(what: string, path: unknown): void {
  if (typeof path !== 'string' || path === '')
    throw new WiretapeError('usage', `the ${what} is invalid`, { hint: 'use the path of a file' })
}

export const isText = (value: unknown): value is string => typeof value === 'string'
export const isFlag = (value: unknown): value is boolean => typeof value === 'boolean'
export const isFunction = (value: unknown): boolean => typeof value === 'function'
export const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isText)
/** An object of members by name. */
export const isMembers = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One of several words. */
export function oneOf(...words: readonly string[]): OptionShape {
  return [(value) => isText(value) && words.includes(value), `use ${words.join(' or ')}`]
}
