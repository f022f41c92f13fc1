import type { Finding, Rule, RuleInfo } from '../finding.js'
import type { Level } from '../levels.js'

/** A finding with what a report says of its place. */
export interface ToldFinding extends Finding {
  /** Message numbers of its rows, as `inspect` prints them. */
  readonly messages: readonly number[]
  /** File and 1-based line of the record that shows it, where the recording is a tape and was read without a problem. */
  readonly place?: { readonly file: string; readonly line?: number }
  /** Stands in the baseline: it counts for nothing. */
  readonly suppressed?: true
  readonly hash: string
}

export interface CheckedRecording {
  /** As the user named them. */
  readonly files: readonly string[]
  readonly label: string
  readonly session: string
  readonly findings: readonly ToldFinding[]
  /** Findings beyond those that are kept. */
  readonly left: number
  /** Something crossed the wire that is not on the recording, or it was cut off. */
  readonly isIncomplete: boolean
}

/** What `wiretape check` found in all recordings of one run. */
export interface FindingsReport {
  readonly version: string
  /** All rules that were asked for. */
  readonly rules: readonly RuleInfo[]
  readonly recordings: readonly CheckedRecording[]
}

export function countsOf(report: FindingsReport): Record<Level, number> {
  const counts: Record<Level, number> = { error: 0, warning: 0, note: 0 }
  for (const { findings } of report.recordings) {
    for (const { level, suppressed } of findings) if (!suppressed) counts[level] += 1
  }
  return counts
}

/** 64 bits of a fingerprint as hex (FNV-1a, twice): equal for equal faults, and short. */
export function hashOf(fingerprint: string): string {
  return [0x811c9dc5, 0x9747b28c]
    .map((seed) => hash32(fingerprint, seed).toString(16).padStart(8, '0'))
    .join('')
}

function hash32(text: string, seed: number): number {
  let hash = seed
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash >>> 0
}

export function wantedRules(
  all: readonly Rule[],
  names: readonly string[] | undefined,
): { rules: Rule[]; unknown?: string } {
  if (names === undefined || names.length === 0) return { rules: [...all] }
  const unknown = names.find((name) => !all.some(({ info }) => info.id === name || info.pack === name))
  return {
    rules: all.filter(({ info }) => names.includes(info.id) || names.includes(info.pack)),
    ...(unknown !== undefined && { unknown }),
  }
}

/** `#12, #14`, or nothing. */
export function numbersOf({ messages }: ToldFinding): string {
  const shown = messages.slice(0, 5).map((seq) => `#${seq}`)
  return `${shown.join(', ')}${messages.length > 5 ? ', …' : ''}`
}

/** `tape.jsonl:12`, or as much of it as is known. */
export function whereOf({ place }: ToldFinding, { files }: CheckedRecording): string {
  const file = place?.file ?? files[0] ?? ''
  return place?.line === undefined ? file : `${file}:${place.line}`
}
