/** The function that the build puts around the script. */
declare const wiretapeScript: () => void

const element = typeof document === 'undefined' ? null : (document.currentScript as HTMLScriptElement | null)

/** Opened from disk: such a page may load scripts, but neither read their files nor start workers from them. */
export const isFromDisk = element?.src.startsWith('file:') ?? false

/** The address of this script. In a report and in a page from disk there is only its text. */
export function ownScript(): { readonly src: string; readonly text: string } {
  if (isFromDisk) return { src: '', text: `(${wiretapeScript.toString()})();` }
  return { src: element?.src ?? '', text: element?.textContent ?? '' }
}

/** Text of the views that a page does not begin with, in a report. */
export function viewsText(): string {
  return document.querySelector('#views')?.textContent ?? ''
}

/** Text of the engine for patterns, where the page has it. */
export function patternsText(): string {
  const { wiretapePatterns } = globalThis as { wiretapePatterns?: { readonly text: string } }
  if (isFromDisk) return wiretapePatterns?.text ?? ''
  return document.querySelector('#patterns')?.textContent ?? ''
}

/** Loads another script from beside this one. */
export function loadScript(name: string, done: () => void, failed: () => void): void {
  const script = document.createElement('script')
  script.src = new URL(name, element?.src).href
  script.addEventListener('load', done)
  script.addEventListener('error', failed)
  document.head.append(script)
}
