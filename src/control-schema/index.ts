export { type Command, type CommandBody, type CommandOf } from './commands.js'
export {
  type Failure,
  type HeldEvent,
  type Reply,
  type ServerEvent,
  type ServerHello,
  type ServerLine,
  type Success,
} from './events.js'
export { decodeClientLine, decodeServerLine, encodeLine, isLineFault, recordFrame } from './lines.js'
export type { FoundMessage, ListedRecording, SearchFound, SqlAnswer } from './ui-answers.js'
export { longestLine, protocolVersion, type GateState, type ReleaseOutcome, type Role } from './values.js'
