import { signal } from '@preact/signals'
import { reader } from './actions.js'
import { table } from './state.js'
import type { Content } from '../worker/protocol.js'

/** Contents kept, of the rows shown last. */
const mostKept = 4_000
/** More rows than fit on a screen. Older requests are dropped: their rows were scrolled past. */
const mostAsked = 200
const pauseMs = 40

/** Incremented when contents arrive. */
export const contentsVersion = signal(0)

/** With the flags that the row had when it was asked about. */
const contents = new Map<number, { readonly content: Content; readonly flags: number }>()
const none: Content = { text: '', author: '' }
const wanted = new Set<number>()
let timer: ReturnType<typeof setTimeout> | undefined

/** Empty until the worker has responded; the previous content while a row that changed is asked about again. */
export function contentOf(row: number): Content {
  const known = contents.get(row)
  if (known?.flags === table.flags(row)) return known.content
  if (table.seq(row) < 0) return none
  wanted.delete(row)
  wanted.add(row)
  timer ??= setTimeout(() => void ask(), pauseMs)
  return known?.content ?? none
}

async function ask(): Promise<void> {
  const rows = [...wanted].slice(-mostAsked)
  wanted.clear()
  const flags = rows.map((row) => table.flags(row))
  try {
    const told = await reader().call<readonly Content[]>('contents', [rows])
    rows.forEach((row, i) => contents.set(row, { content: told[i] ?? none, flags: flags[i]! }))
    for (const row of contents.keys()) {
      if (contents.size <= mostKept) break
      contents.delete(row)
    }
    contentsVersion.value += 1
  } catch {
    // The list works without contents; selecting a row shows the error.
    rows.forEach((row, i) => contents.set(row, { content: none, flags: flags[i]! }))
  } finally {
    timer = wanted.size > 0 ? setTimeout(() => void ask(), pauseMs) : undefined
  }
}
