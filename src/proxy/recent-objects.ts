const mostKeys = 128

/** Caches the values made from recent objects, compared by identity. Neither may be changed. */
export function forRecent<Key extends object, T>(make: (key: Key) => T): (key: Key) => T {
  const known = new Map<Key, T>()
  return (key) => {
    let made = known.get(key)
    if (made !== undefined) return made
    made = make(key)
    if (known.size >= mostKeys) known.clear()
    known.set(key, made)
    return made
  }
}
