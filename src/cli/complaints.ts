import type { Diagnostic } from '../model/index.js'
import { placeOf } from './diagnostics.js'
import type { Io } from './io.js'

/** Lines about one input or output; more are counted. */
const mostComplaints = 20

/** What is wrong with inputs and outputs, told when the work is done. */
export interface Complaints {
  readonly input: (problem: Diagnostic & { readonly file: string }) => void
  readonly output: (name: string, diagnostic: Diagnostic) => void
  tell(io: Io): Promise<void>
}

export function createComplaints(): Complaints {
  const lines: string[] = []
  let count = 0
  function add(name: string, diagnostic: Diagnostic): void {
    count += 1
    if (lines.length < mostComplaints) lines.push(`${name}${placeOf(diagnostic)}: ${diagnostic.message}`)
  }
  return {
    input: (problem) => add(problem.file, problem),
    output: add,
    async tell(io) {
      for (const line of lines) await io.complain(line)
      if (count > lines.length) await io.complain(`and ${count - lines.length} more of the kind`)
    },
  }
}
