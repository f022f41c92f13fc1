import { taskStatus } from '../compare/index.js'

/** The live task is still working, while the recorded poll found it in a later state. */
export function worksStill(recorded: string, live: string): boolean {
  const then = taskStatus(recorded)
  return then !== undefined && then !== 'working' && taskStatus(live) === 'working'
}
