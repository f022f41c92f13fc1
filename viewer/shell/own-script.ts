const element = typeof document === 'undefined' ? null : (document.currentScript as HTMLScriptElement | null)

/** Where this script came from; in a report it stands in the page and came from nowhere. */
export function ownScript(): { readonly src: string; readonly text: string } {
  return { src: element?.src ?? '', text: element?.textContent ?? '' }
}
