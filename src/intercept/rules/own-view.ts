import type { FilterSubject } from '../../filter/index.js'

/** The message alone: a response without the names of its request; others unchanged. */
export function ownView(subject: FilterSubject): FilterSubject {
  if (subject.kind !== 'result' && subject.kind !== 'error') return subject
  return Object.create(subject, { method: { value: null }, name: { value: null } }) as FilterSubject
}
