import type { FilterSubject } from '../../filter/index.js'

/** The message by itself: a response without the names of its request. The subject itself for other messages. */
export function ownView(subject: FilterSubject): FilterSubject {
  if (subject.kind !== 'result' && subject.kind !== 'error') return subject
  return Object.create(subject, { method: { value: null }, name: { value: null } }) as FilterSubject
}
