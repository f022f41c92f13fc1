export { checkCommand, type CommandCheck } from './check-command.js'
export { checkMachine, type MachineCheck } from './check-machine.js'
export { checkUrl, type UrlCheck } from './check-url.js'
export type { Step } from './step.js'
