/** Small preferences. Some browsers allow no storage, for example for a page from a file. */
export function remembered(name: string): string | null {
  try {
    return localStorage.getItem(`wiretape.${name}`)
  } catch {
    return null
  }
}

export function remember(name: string, value: string): void {
  try {
    localStorage.setItem(`wiretape.${name}`, value)
  } catch {
    // Losing a preference is harmless.
  }
}
