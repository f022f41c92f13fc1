/**
 * The place of a value in an MCP message, as far as it affects redaction: tool schemas name properties (`password`)
 * without holding any, and protocol handles must survive.
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
  /** The default rules skip strings here. */
  | 'handle'
  /** A tool's description of itself: secret only where a value has a vendor's unmistakable shape. */
  | 'documentation'

/**
 * JSON Schema: a schema, or an object whose member names are names of properties. `secret`: it describes a property
 * with a secret name.
 */
type Schema =
  | 'schema'
  | 'properties'
  | 'dependents'
  | 'secret-schema'
  | 'secret-properties'
  | 'secret-dependents'

const propertyMaps = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
/** The values of these may also be lists of property names. */
const dependentMaps = new Set(['dependentRequired', 'dependencies'])
/** These hold values, not schemas. */
const valueKeywords = new Set(['default', 'const', 'enum', 'examples', 'example'])

/** Members of a tool that a mock must serve unchanged. */
const documented = new Set(['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'])

/** How one member is treated: the place of its value, and whether the key rules judge its name. */
export interface MemberPlace {
  readonly place: McpPlace
  /**
   * `exempt`: the name implies nothing about the value. `secret`: the value is one, whatever its name. `state`:
   * state of a multi-round request that the client keeps for the server, and only that server may read.
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
 * The place of a member's value. `named`: the member has a secret name.
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
