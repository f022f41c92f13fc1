export {
  clientHello,
  command,
  type ClientHello,
  type Command,
  type CommandBody,
  type CommandOf,
  type CommandType,
} from './commands.js'
export {
  failureCode,
  heldEvent,
  serverHello,
  type Failure,
  type FailureCode,
  type HeldEvent,
  type RecordEvent,
  type Reply,
  type ServerEvent,
  type ServerHello,
  type ServerLine,
  type Success,
} from './events.js'
export {
  decodeClientLine,
  decodeServerLine,
  encodeLine,
  isLineFault,
  recordFrame,
  type LineFault,
} from './lines.js'
export {
  gateState,
  longestLine,
  protocolVersion,
  type GateState,
  type HoldOrder,
  type HoldReason,
  type OnDetach,
  type ReleaseCause,
  type ReleaseOutcome,
  type Role,
} from './values.js'
