export { checkCommand } from './check-command.js'
export { checkMachine } from './check-machine.js'
export { checkUrl } from './check-url.js'
export type { Step } from './step.js'
