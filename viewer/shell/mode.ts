/**
 * How the page came here: `static` from any web server, `ui` from `wiretape ui`, `report` as one file with its
 * recording inside. Whoever serves the page says so; nothing is asked of a server to find out.
 */
export type Mode = 'static' | 'ui' | 'report'

export const mode = ((typeof document === 'undefined'
  ? 'static'
  : document.documentElement.dataset['mode']) ?? 'static') as Mode
