import { JsonObject, membersOf } from '../../wire/index.js'

/** Names of the capabilities that a client declares: `sampling`, `roots`, … */
function abilitiesIn(initialize: string): readonly string[] {
  const said = JsonObject.in(initialize)?.object('params')?.raw('capabilities')
  return said?.startsWith('{') ? membersOf(said, 0).map(({ name }) => name) : []
}

/** Whether a client declares all capabilities of another one. */
export function canAsMuch(initialize: string, other: string): boolean {
  const abilities = new Set(abilitiesIn(initialize))
  return abilitiesIn(other).every((name) => abilities.has(name))
}
