import type { Diagnostic } from '../model/index.js'
import { placeOf } from './diagnostics.js'
import type { Io } from './io.js'

/** Lines about one kind of thing; more are counted. */
const mostOfAKind = 20
/** Kinds that are kept apart. Only input that is made for it gives more: they share what is left. */
const mostKinds = 100

/** Codes of what is about the whole: their words tell one kind from the other. */
const tellsByWords: ReadonlySet<string> = new Set(['lost', 'import'])

/** What is wrong with inputs and outputs, told when the work is done. */
export interface Complaints {
  readonly input: (problem: Diagnostic & { readonly file: string }) => void
  readonly output: (name: string, diagnostic: Diagnostic) => void
  tell(io: Io): Promise<void>
}

/** Many of one kind hide none of another. Kinds stand in the order in which they came. */
export function createComplaints(): Complaints {
  const kinds = new Map<string, { readonly lines: string[]; count: number }>()
  function add(name: string, diagnostic: Diagnostic): void {
    const kind = kindOf(diagnostic)
    const key = kinds.has(kind) || kinds.size < mostKinds ? kind : ''
    const all = kinds.get(key) ?? { lines: [], count: 0 }
    kinds.set(key, all)
    all.count += 1
    if (all.lines.length < mostOfAKind) all.lines.push(`${name}${placeOf(diagnostic)}: ${diagnostic.message}`)
  }
  return {
    input: (problem) => add(problem.file, problem),
    output: add,
    async tell(io) {
      for (const { lines, count } of kinds.values()) {
        for (const line of lines) await io.complain(line)
        if (count > lines.length) await io.complain(`and ${count - lines.length} more of the kind`)
      }
    },
  }
}

/** Two that differ in names and numbers only are of one kind. */
function kindOf({ code, message }: Diagnostic): string {
  if (!tellsByWords.has(code)) return code
  return `${code} ${message
    .slice(0, 500)
    .replaceAll(/"(?:[^"\\]|\\.)*(?:"|$)/g, '""')
    .replaceAll(/\d+/g, '0')}`
}
