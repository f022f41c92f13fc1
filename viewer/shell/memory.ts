/** Small preferences, where the browser lets us keep any; a page from a file may not. */
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
    // It is a preference only.
  }
}
