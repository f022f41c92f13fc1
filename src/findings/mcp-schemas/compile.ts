import { isMap, type Json, type JsonMap } from '../json.js'

/** Whether a value fits a schema. */
export type Fits = (value: Json | undefined) => boolean

/**
 * Compiles a schema to one function, for the keywords of the protocol's schemas. A valid message, the usual case, costs
 * one walk over its members and allocates no objects.
 *
 * @param definitionAt compiles `#/$defs/NAME`; called when a value first reaches it
 * @throws {Error} for an unknown keyword
 */
export function compileSchema(schema: Json, definitionAt: (name: string) => Fits): Fits {
  if (!isMap(schema)) return schema === false ? () => false : () => true
  const tests = Object.entries(schema).map(([keyword, operand]) => {
    const make = keywords[keyword]
    if (!make) throw new Error(`the protocol's schemas have a new keyword, ${keyword}`)
    return make(operand, (part) => compileSchema(part, definitionAt), schema, definitionAt)
  })
  const [only] = tests
  if (tests.length === 1) return only!
  return (value) => {
    for (const test of tests) if (!test(value)) return false
    return true
  }
}

type Make = (
  operand: Json,
  compile: (schema: Json) => Fits,
  schema: JsonMap,
  definitionAt: (name: string) => Fits,
) => Fits

const anything: Fits = () => true

const keywords: Readonly<Record<string, Make | undefined>> = {
  $ref(operand, _, __, definitionAt) {
    const name = (operand as string).replace('#/$defs/', '')
    let fits: Fits | undefined
    return (value) => (fits ??= definitionAt(name))(value)
  },
  type(operand) {
    const types = new Set((Array.isArray(operand) ? operand : [operand]).map(String))
    return (value) => types.has(typeOf(value))
  },
  const: (operand) => (value) => value === operand,
  enum(operand) {
    const members = new Set(operand as Json[])
    return (value) => members.has(value!)
  },
  required(operand) {
    const names = operand as string[]
    return (value) => !isMap(value) || names.every((name) => Object.hasOwn(value, name))
  },
  properties(operand, compile) {
    const members = Object.entries(operand as JsonMap).map(([name, part]) => [name, compile(part)] as const)
    return (value) => {
      if (!isMap(value)) return true
      for (const [name, fits] of members) if (Object.hasOwn(value, name) && !fits(value[name])) return false
      return true
    }
  },
  additionalProperties(operand, compile, schema) {
    const fits = compile(operand)
    const known = isMap(schema['properties']) ? schema['properties'] : {}
    if (operand === true || (isMap(operand) && Object.keys(operand).length === 0)) return anything
    return (value) => {
      if (!isMap(value)) return true
      for (const name in value)
        if (Object.hasOwn(value, name) && !Object.hasOwn(known, name) && !fits(value[name])) return false
      return true
    }
  },
  items(operand, compile) {
    const fits = compile(operand)
    return (value) => !Array.isArray(value) || value.every(fits)
  },
  maxItems: (operand) => (value) => !Array.isArray(value) || value.length <= Number(operand),
  minimum: (operand) => (value) => typeof value !== 'number' || value >= Number(operand),
  maximum: (operand) => (value) => typeof value !== 'number' || value <= Number(operand),
  allOf(operand, compile) {
    const parts = (operand as Json[]).map(compile)
    return (value) => parts.every((fits) => fits(value))
  },
  anyOf(operand, compile) {
    const parts = (operand as Json[]).map(compile)
    return (value) => parts.some((fits) => fits(value))
  },
}

function typeOf(value: Json | undefined): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value
}
