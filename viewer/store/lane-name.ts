import type { Lane } from '../worker/protocol.js'
import { lanes } from './state.js'

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
  return others.some(({ sessions }) => sessions[0]?.label === label) ? `${file} · ${label}` : label
}
