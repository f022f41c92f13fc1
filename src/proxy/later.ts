/** A promise only for asynchronous work, because a promise costs more than most events. */
export type Later = void | Promise<void>

/** Continues at once with a value, and later with a promise. */
export function andThen<T>(value: T | Promise<T>, next: (value: T) => void): Later {
  if (value instanceof Promise) return value.then(next)
  next(value)
}
