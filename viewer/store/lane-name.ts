import type { Lane } from '../worker/protocol.js'
import { lanes } from './state.js'

/** What a lane is called: its label, and its file where another has the same label. */
export function laneName(one: Lane): string {
  const label = one.sessions[0]?.label ?? ''
  if (label === '') return one.name
  const isShared = lanes.value.some((other) => other && other !== one && other.sessions[0]?.label === label)
  return isShared ? `${label} · ${one.name.replace(/\.jsonl(?:\.gz)?$/, '')}` : label
}
