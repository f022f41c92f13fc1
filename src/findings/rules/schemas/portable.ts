import type { Rule } from '../../finding.js'
import { at, isMap, type Json, type JsonMap } from '../../json.js'
import { sources } from '../sources.js'
import { eachNewTool } from './each-new-tool.js'

const knownDialects = /^https?:\/\/json-schema\.org\/(draft\/2020-12|draft\/2019-09|draft-0[67])\/schema#?$/

export const schemaPortable: Rule = {
  info: {
    id: 'schemas/portable',
    live: true,
    pack: 'schemas',
    level: 'note',
    certainty: 'exact',
    title: 'A schema uses features that some clients reject.',
    help: 'Model providers accept only a part of JSON Schema: no oneOf, anyOf or allOf at the root, no external references, a known dialect, a type for each property.',
    source: sources.tools,
  },
  begin: eachNewTool((tool, row, say) => {
    for (const member of ['inputSchema', 'outputSchema']) {
      const schema = at(tool.value, member)
      if (!isMap(schema)) continue
      for (const [problem, level] of portabilityOf(schema))
        say(row, {
          message: `${member} of ${tool.name} ${problem}`,
          at: `${tool.at}/${member}`,
          tool: tool.name,
          what: `${member} ${problem}`,
          level,
        })
    }
  }),
}

function portabilityOf(schema: JsonMap): (readonly [problem: string, level: 'warning' | 'note'])[] {
  const found: (readonly [string, 'warning' | 'note'])[] = []
  for (const word of ['oneOf', 'anyOf', 'allOf', 'not', '$ref'])
    if (word in schema) found.push([`has ${word} at its root`, 'note'])
  const dialect = schema['$schema']
  if (dialect !== undefined && (typeof dialect !== 'string' || !knownDialects.test(dialect)))
    found.push(['uses a dialect that clients do not know', 'note'])
  const open: Json[] = [schema]
  let untyped = 0
  for (let i = 0; i < open.length && i < 10_000; i += 1) {
    const part = open[i]
    if (Array.isArray(part)) open.push(...part.slice(0, 1000))
    if (!isMap(part)) continue
    const reference = part['$ref']
    if (typeof reference === 'string' && !reference.startsWith('#'))
      found.push([`refers to ${reference.slice(0, 200)}`, 'warning'])
    if (isMap(part['properties'])) {
      for (const property of Object.values(part['properties']))
        if (isMap(property) && isUntyped(property)) untyped += 1
    }
    open.push(...Object.values(part).filter((value) => typeof value === 'object'))
  }
  if (untyped > 0)
    found.push([untyped === 1 ? 'has a property without a type' : 'has properties without a type', 'note'])
  return found
}

const typing = ['type', '$ref', 'enum', 'const', 'anyOf', 'oneOf', 'allOf', 'not', 'if']

function isUntyped(property: JsonMap): boolean {
  return !typing.some((word) => word in property)
}
