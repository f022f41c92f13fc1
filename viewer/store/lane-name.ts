import { countOf } from '../../src/render/index.js'
import type { Lane } from '../worker/protocol.js'
import { lane, lanes } from './state.js'

/** The name of a lane: its label; if another lane has the same, a distinguishing part comes first. */
export function laneName(one: Lane): string {
  const label = one.sessions[0]?.label ?? ''
  const file = one.name.replace(/\.jsonl(?:\.gz)?$/, '')
  const others = lanes.value.filter((other) => other && other !== one)
  if (others.some(({ name }) => name === one.name)) {
    const number = lanes.value.filter(({ name, index }) => name === one.name && index <= one.index).length
    return `${number} · ${label || file}`
  }
  if (label === '') return one.name
  return others.some(({ sessions }) => sessions[0]?.label === label)
    ? `${distinguishing(file, others)} · ${label}`
    : label
}

/** The recordings that the page shows: their number, or the name of the only one; undefined if no other is open. */
export function shownLanes(): string | undefined {
  const all = lanes.value.filter((one) => one && one.state !== 'failed')
  if (all.length < 2) return undefined
  const only = lane.value === 'all' ? undefined : lanes.value[lane.value]
  return only ? laneName(only) : countOf(all.length, 'recording')
}

/** Start of the file of a recording. */
const recorded = /^((\d{4}-\d\d-\d\d)T(\d\d)-(\d\d)-(\d\d))-\d{3}Z-/

/** The time in the name of a recording; the whole name of another file. */
function distinguishing(file: string, others: readonly Lane[]): string {
  const [, start, date, hours, minutes, seconds] = recorded.exec(file) ?? []
  if (start === undefined || others.some(({ name }) => name.startsWith(start))) return file
  const day = others.every(({ name }) => name.startsWith(date!)) ? '' : `${date} `
  return `${day}${hours}:${minutes}:${seconds} UTC`
}
