import { splitCommandLine } from '../../model/index.js'

/** The words of a `server_command`; one that a shell could not split is a single word. */
export function commandOf(serverCommand: string | null): readonly string[] {
  if (serverCommand === null) return []
  const split = splitCommandLine(serverCommand)
  return 'fault' in split ? [serverCommand] : split.words
}
