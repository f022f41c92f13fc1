import type { KnownNames } from '../../src/filter/index.js'
import { loadedEngine } from '../patterns/loaded.js'
import { table, version } from '../store/state.js'

/** Maximum number of rows searched for names. */
const most = 300_000
let known: { readonly version: number; readonly names: KnownNames } | undefined

/** Names in the open recordings, most frequent first. */
export function knownNames(): KnownNames {
  if (known?.version === version.value) return known.names
  const methods = new Map<number, number>()
  const byMethod = {
    'tools/call': new Map<number, number>(),
    'prompts/get': new Map<number, number>(),
    'resources/read': new Map<number, number>(),
  }
  const rows = Math.min(table.length, most)
  for (let row = 0; row < rows; row += 1) {
    const kind = table.kind(row)
    if (kind !== 'request' && kind !== 'notification') continue
    count(methods, table.methodWord(row))
    const method = table.method(row)
    if (method in byMethod) count(byMethod[method as keyof typeof byMethod], table.subjectWord(row))
  }
  const names: KnownNames = {
    methods: sorted(methods),
    tools: sorted(byMethod['tools/call']),
    prompts: sorted(byMethod['prompts/get']),
    resources: sorted(byMethod['resources/read']),
    /** Requested when the user types `finding:`; requested again when the rules have loaded. */
    get findings() {
      return loadedEngine()?.findings.rules.map(({ info }) => info.id) ?? []
    },
  }
  known = { version: version.value, names }
  return names
}

function count(counts: Map<number, number>, word: number): void {
  if (counts.size < 5_000) counts.set(word, (counts.get(word) ?? 0) + 1)
}

function sorted(counts: ReadonlyMap<number, number>): string[] {
  return [...counts]
    .toSorted((a, b) => b[1] - a[1])
    .map(([word]) => table.word(word))
    .filter((word) => word !== '')
}
