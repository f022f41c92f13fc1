import type { Diagnostic } from '../model/index.js'
import { placeOf } from './diagnostics.js'
import type { Io } from './io.js'

/** Lines per kind; more are counted. */
const mostOfAKind = 20
/** Separate kinds. Only crafted input has more; these share one limit. */
const mostKinds = 100

/** Codes about a whole file: their messages distinguish the kinds. */
const tellsByWords: ReadonlySet<string> = new Set(['lost', 'import'])

/** Collects problems of inputs and outputs; reports them at the end. */
export interface Complaints {
  readonly input: (problem: Diagnostic & { readonly file: string }) => void
  readonly output: (name: string, diagnostic: Diagnostic) => void
  tell(io: Io): Promise<void>
}

/** Limits each kind, so that none hides another. Kinds keep their order of arrival. */
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
        if (count > lines.length) await io.complain(`and ${count - lines.length} more like this`)
      }
    },
  }
}

/** Diagnostics that differ only in names and numbers are of one kind. */
function kindOf({ code, message }: Diagnostic): string {
  if (!tellsByWords.has(code)) return code
  return `${code} ${message
    .slice(0, 500)
    .replaceAll(/"(?:[^"\\]|\\.)*(?:"|$)/g, '""')
    .replaceAll(/\d+/g, '0')}`
}
