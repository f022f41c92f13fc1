import { pointerStep, pointerSteps } from '../wire/index.js'

/** Location of a value: member names and 0-based indexes from the root. `[]` is the root. */
export type JsonPlace = readonly (string | number)[]

/** RFC 6901. The root is `''`. */
export function toPointer(place: JsonPlace): string {
  let pointer = ''
  for (const step of place) pointer += pointerStep(step)
  return pointer
}

/** The steps of a JSON Pointer; index-like steps become numbers. */
export function placeOf(pointer: string): (string | number)[] {
  return pointerSteps(pointer).map((step) => (/^(?:0|[1-9]\d*)$/.test(step) ? Number(step) : step))
}

/** A JSONPath (RFC 9535) in its usual notation: `$.result.content[0]['odd name']`. */
export function toJsonPath(place: JsonPlace): string {
  let path = '$'
  for (const step of place) path += pathStep(step)
  return path
}

function pathStep(step: string | number): string {
  if (typeof step === 'number') return `[${step}]`
  if (/^[A-Za-z_]\w*$/.test(step)) return `.${step}`
  // JSON escapes equal those of RFC 9535, except for quotes.
  const inner = JSON.stringify(step).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `['${inner}']`
}
