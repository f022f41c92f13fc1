import type { Subject } from './recording-index.js'

/** Latencies of one subject, before and after. */
export interface SubjectLatency extends Subject {
  readonly before?: LatencyNumbers
  readonly after?: LatencyNumbers
}

export interface LatencyNumbers {
  readonly answers: number
  readonly p50Us: number
  readonly p95Us: number
}

export interface Latencies {
  add(subject: Subject, beforeUs: number | undefined, afterUs: number | undefined): void
  /** In the order of first occurrence. */
  list(): readonly SubjectLatency[]
}

export function createLatencies(): Latencies {
  const bySubject = new Map<string, { subject: Subject; before: number[]; after: number[] }>()
  return {
    add(subject, beforeUs, afterUs) {
      const key = JSON.stringify([subject.direction, subject.method, subject.name])
      let entry = bySubject.get(key)
      if (!entry) bySubject.set(key, (entry = { subject, before: [], after: [] }))
      if (beforeUs !== undefined) entry.before.push(beforeUs)
      if (afterUs !== undefined) entry.after.push(afterUs)
    },
    list: () =>
      [...bySubject.values()].map(({ subject, before, after }) => {
        const [old, now] = [numbersOf(before), numbersOf(after)]
        return { ...subject, ...(old && { before: old }), ...(now && { after: now }) }
      }),
  }
}

function numbersOf(us: readonly number[]): LatencyNumbers | undefined {
  if (us.length === 0) return undefined
  const all = Float64Array.from(us).sort()
  const at = (share: number): number => all[Math.max(0, Math.ceil(share * all.length) - 1)]!
  return { answers: all.length, p50Us: at(0.5), p95Us: at(0.95) }
}
