import { findJsonValue, isFault, JsonObject, kindAt, membersOf } from '../../wire/index.js'

/** Names of the capabilities that a client declares: `sampling`, `roots`, … */
function abilitiesIn(initialize: string): readonly string[] {
  const found = findJsonValue(initialize)
  if (isFault(found) || kindAt(initialize, found.start) !== 'object') return []
  const said = new JsonObject(initialize, found.start).object('params')?.raw('capabilities')
  return said?.startsWith('{') ? membersOf(said, 0).map(({ name }) => name) : []
}

/** Whether a client declares all capabilities of another one. */
export function canAsMuch(initialize: string, other: string): boolean {
  const abilities = new Set(abilitiesIn(initialize))
  return abilitiesIn(other).every((name) => abilities.has(name))
}
