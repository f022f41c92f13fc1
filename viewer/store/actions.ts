import { batch } from '@preact/signals'
import { ReaderFailure, createReader, type Reader } from './reader.js'
import {
  crashed,
  filterMatches,
  filterText,
  follow,
  highlightMatches,
  highlightText,
  lane,
  lanes,
  notice,
  opening,
  range,
  reading,
  selected,
  table,
  version,
} from './state.js'
import type { Matches } from './state.js'
import type { Lane, Opening, Slot } from '../worker/protocol.js'

let current: Reader | undefined

/** The interface to the worker. */
export function reader(): Reader {
  if (!current) throw new Error('the worker has not started')
  return current
}

/** @param worker runs the code in worker/ */
export function connect(worker: Worker): void {
  let asked = false
  const told = new Map<number, Lane>()
  const takeLanes = (): void => {
    const next = [...lanes.peek()]
    for (const [index, one] of told) next[index] = one
    told.clear()
    lanes.value = next
  }
  const changed = (): void => {
    if (asked) return
    asked = true
    const draw = (): void => {
      asked = false
      batch(() => {
        if (told.size > 0) takeLanes()
        version.value += 1
      })
    }
    // The time for a redraw grows with the recording's length; while reading, it slows down the reader.
    const pauseMs = table.length / (reading.peek() ? 400 : 2_000)
    // A hidden page gets no frames.
    if (document.hidden) setTimeout(draw, 300)
    else if (pauseMs > 20) setTimeout(() => requestAnimationFrame(draw), pauseMs)
    else requestAnimationFrame(draw)
  }
  current = createReader(worker, {
    rows(rows, changes) {
      table.add(rows, changes)
      changed()
    },
    opening(names) {
      // Recordings that arrived get their lanes with the next message.
      if (names.length > 0) opening.value = names
    },
    lanes(all) {
      for (const one of all) told.set(one.index, one)
      const isSame = all.every(({ index, state }) => lanes.peek()[index]?.state === state)
      if (isSame && table.length > 0) {
        // Progress of reading is shown with the rows.
        changed()
        return
      }
      batch(() => {
        takeLanes()
        opening.value = []
        // Reading is complete: the remaining rows are drawn at once.
        version.value += 1
      })
    },
    matches({ slot, text, bits, count, done }) {
      const wanted = slot === 'filter' ? filterText : highlightText
      // The response belongs to an earlier filter.
      if (wanted.peek() !== text) return
      const has = (row: number): boolean => ((bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0
      const found: Matches = { text, has, count, done }
      if (slot === 'filter') filterMatches.value = found
      else highlightMatches.value = found
    },
    crashed(message) {
      crashed.value = message
    },
  })
}

/** Opens recordings in addition to those already open. */
export async function open(openings: readonly Opening[]): Promise<void> {
  if (openings.length === 0) return
  opening.value = openings.map(({ name }) => name)
  try {
    await reader().open(openings)
  } catch (error) {
    tellFailure(error)
  }
}

export function tellFailure(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error)
  const hint = error instanceof ReaderFailure && error.hint !== undefined ? ` ${error.hint}` : ''
  notice.value = { text: message + hint, tone: 'bad' }
}

export async function openFiles(files: Iterable<File>): Promise<void> {
  const given = [...files]
  const before = lanes.value.length
  await open(given.map((file) => ({ kind: 'file', name: file.name, blob: file })))
  const readable = lanes.value.filter(({ state }) => state !== 'failed').length
  if (given.length > 0 && readable === 2 && before < 2)
    notice.value = {
      text: 'Two recordings are open, merged by time. Press 4 to compare them.',
      tone: 'plain',
    }
}

/** Opens the browser's own file dialog; the files are read in this page. */
export function chooseFiles(): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = true
  input.addEventListener('change', () => void openFiles(input.files ?? []))
  input.click()
}

/** @param text a valid filter; an empty one shows everything */
export function search(slot: Slot, text: string): void {
  const [wanted, matches] =
    slot === 'filter' ? [filterText, filterMatches] : [highlightText, highlightMatches]
  wanted.value = text
  if (text.trim() === '') matches.value = undefined
  void reader().call('search', [slot, text]).catch(tellFailure)
}

export function clearFilters(): void {
  search('filter', '')
  range.value = undefined
  lane.value = 'all'
}

export function select(row: number): void {
  selected.value = row
  follow.value = false
}
