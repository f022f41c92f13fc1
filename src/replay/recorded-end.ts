import type { Session } from '../model/index.js'

/**
 * Whether a live server ended as the recorded one did.
 *
 * @param why reason for the end of the run: the words of `connectStdio`, followed by the last line of stderr
 */
export function isRecordedEnd(session: Session | undefined, why: string): boolean {
  if (session?.transport !== 'stdio' || session.exitCode === undefined || session.recovered) return false
  const { exitCode, signal } = session
  const recorded = `the server ${signal === undefined ? `exited with ${exitCode}` : `was ended by ${signal}`}`
  return why === recorded || why.startsWith(`${recorded}: `)
}
