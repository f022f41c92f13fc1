/** The function that the build wraps around the script. */
declare const wiretapeScript: () => void

const element = typeof document === 'undefined' ? null : (document.currentScript as HTMLScriptElement | null)

/** A page opened from disk may load scripts, but may neither read their files nor start workers from them. */
export const isFromDisk = element?.src.startsWith('file:') ?? false

/** The URL of this script. Reports and pages from disk have only its text. */
export function ownScript(): { readonly src: string; readonly text: string } {
  if (isFromDisk) return { src: '', text: `(${wiretapeScript.toString()})();` }
  return { src: element?.src ?? '', text: element?.textContent ?? '' }
}

/** In a report: text of the views that are loaded later. */
export function viewsText(): string {
  return document.querySelector('#views')?.textContent ?? ''
}

/** Text of the engine for patterns, if the page has it. */
export function patternsText(): string {
  const { wiretapePatterns } = globalThis as { wiretapePatterns?: { readonly text: string } }
  if (isFromDisk) return wiretapePatterns?.text ?? ''
  return document.querySelector('#patterns')?.textContent ?? ''
}

/** Loads another script from the folder of this one. */
export function loadScript(name: string, done: () => void, failed: () => void): void {
  const script = document.createElement('script')
  script.src = new URL(name, element?.src).href
  script.addEventListener('load', done)
  script.addEventListener('error', failed)
  document.head.append(script)
}
