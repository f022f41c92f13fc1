import type { Finding, Rule, RuleInfo } from '../finding.js'
import type { Level } from '../levels.js'

/** A finding with its place, for reports. */
export interface ToldFinding extends Finding {
  /** Message numbers of its rows, as printed by `inspect`. */
  readonly messages: readonly number[]
  /** File and 1-based line of the record with the fault, if the recording is a tape and was read without a problem. */
  readonly place?: { readonly file: string; readonly line?: number }
  /** Listed in the baseline: does not count. */
  readonly suppressed?: true
  readonly hash: string
}

export interface CheckedRecording {
  /** As named by the user. */
  readonly files: readonly string[]
  readonly label: string
  readonly session: string
  readonly findings: readonly ToldFinding[]
  /** Findings above the limit. */
  readonly left: number
  /** Whether traffic is missing from the recording, or the recording is truncated. */
  readonly isIncomplete: boolean
}

/** The findings of `wiretape check` in all recordings of one run. */
export interface FindingsReport {
  readonly version: string
  /** All selected rules. */
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

/** Short hash of a fingerprint: 64 bits as hex (FNV-1a, twice). */
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

/** `#12, #14`, or empty. */
export function numbersOf({ messages }: ToldFinding): string {
  const shown = messages.slice(0, 5).map((seq) => `#${seq}`)
  return `${shown.join(', ')}${messages.length > 5 ? ', …' : ''}`
}

/** `tape.jsonl:12`, or the known part of it. */
export function whereOf({ place }: ToldFinding, { files }: CheckedRecording): string {
  const file = place?.file ?? files[0] ?? ''
  return place?.line === undefined ? file : `${file}:${place.line}`
}
