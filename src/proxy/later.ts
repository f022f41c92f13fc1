/** A promise only where something takes its time: it costs more than most events do. */
export type Later = void | Promise<void>

/** Goes on at once with a value, and later with a promised one. */
export function andThen<T>(value: T | Promise<T>, next: (value: T) => void): Later {
  if (value instanceof Promise) return value.then(next)
  next(value)
}
