/**
 * Where in an MCP message a value stands, as far as that changes what redaction does: tool schemas name properties
 * (`password`) without holding any, and the handles of the protocol must survive.
 */
export type McpPlace =
  | 'plain'
  | 'frame'
  | 'message'
  | 'params'
  | 'result'
  | 'meta'
  | 'requests'
  | 'tools'
  | 'tool'
  | Schema
  /** The default rules leave a string here alone. */
  | 'handle'
  /** What a tool says of itself: a secret only by the looks that its vendor gave it. */
  | 'documentation'

/**
 * JSON Schema: a schema, or an object whose member names are names of properties. `secret`: it describes a
 * property whose name says that it is a secret.
 */
type Schema =
  | 'schema'
  | 'properties'
  | 'dependents'
  | 'secret-schema'
  | 'secret-properties'
  | 'secret-dependents'

const propertyMaps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** Their values may also be lists of property names. */
const dependentMaps = new Set(['dependentRequired', 'dependencies'])
/** What holds values, not schemas. */
const valueKeywords = new Set(['default', 'const', 'enum', 'examples', 'example'])

/** Members of a tool that a mock must serve as they were. */
const documented = new Set(['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'])

/** What the walk does with one member: where its value stands, and whether the key rules judge its name. */
export interface MemberPlace {
  readonly place: McpPlace
  /**
   * `exempt`: its name says nothing about the value. `secret`: it is one, whatever its name. `state`: what a server
   * of multi round-trips gives a client to keep, and only that server may read.
   */
  readonly key: 'judged' | 'exempt' | 'secret' | 'state'
}

const judged = new Map<McpPlace, MemberPlace>()
const exempt = new Map<McpPlace, MemberPlace>()
const plain: MemberPlace = to('plain')
const secret: MemberPlace = { place: 'plain', key: 'secret' }
const state: MemberPlace = { place: 'plain', key: 'state' }

function to(place: McpPlace, key: 'judged' | 'exempt' = 'judged'): MemberPlace {
  const made = key === 'judged' ? judged : exempt
  const known = made.get(place) ?? { place, key }
  made.set(place, known)
  return known
}

/**
 * The place of a member's value. `named` says whether the member's name is that of a secret.
 */
export function memberPlace(
  place: McpPlace,
  name: string,
  kind: 'object' | 'array' | 'boolean' | 'other',
  named: boolean,
): MemberPlace {
  switch (place) {
    case 'message':
      return name === 'params' || name === 'result' ? to(name) : plain
    case 'params':
      if (name === 'requestedSchema') return to('schema')
      if (name === 'progressToken' || name === 'cursor') return to('handle', 'exempt')
      return name === 'requestState' ? state : ofBoth(name)
    case 'result':
      if (name === 'nextCursor' || name === 'cursor') return to('handle', 'exempt')
      if (name === 'requestState') return state
      return name === 'inputRequests' ? to('requests') : ofBoth(name)
    case 'meta':
      return name === 'progressToken' ? to('handle', 'exempt') : plain
    case 'requests':
      return kind === 'object' ? to('message', 'exempt') : plain
    case 'tool':
      return documented.has(name) ? to('documentation', 'exempt') : plain
    case 'documentation':
      return to('documentation', 'exempt')
    case 'schema':
    case 'secret-schema':
      return inSchema(place === 'secret-schema', name)
    case 'properties':
    case 'secret-properties':
      if (kind !== 'object' && kind !== 'boolean') return plain
      return to(named || place === 'secret-properties' ? 'secret-schema' : 'schema', 'exempt')
    case 'dependents':
    case 'secret-dependents':
      if (kind === 'other') return plain
      return to(place === 'secret-dependents' ? 'secret-schema' : 'schema', 'exempt')
    default:
      return plain
  }
}

function ofBoth(name: string): MemberPlace {
  return name === '_meta' ? to('meta') : name === 'tools' ? to('tools') : plain
}

function inSchema(isSecret: boolean, name: string): MemberPlace {
  if (valueKeywords.has(name)) return isSecret ? secret : plain
  if (propertyMaps.has(name)) return to(isSecret ? 'secret-properties' : 'properties')
  if (dependentMaps.has(name)) return to(isSecret ? 'secret-dependents' : 'dependents')
  return to(isSecret ? 'secret-schema' : 'schema')
}

/** The place of an array's elements. */
export function elementPlace(place: McpPlace): McpPlace {
  switch (place) {
    case 'frame':
    case 'requests':
      return 'message'
    case 'tools':
      return 'tool'
    case 'schema':
    case 'secret-schema':
    case 'documentation':
      return place
    default:
      return 'plain'
  }
}
