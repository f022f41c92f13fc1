/**
 * Origin of the page: `static` from any web server, `ui` from `wiretape ui`, `report` as one file with its
 * recording. The page itself names its mode; no request is needed to find out.
 */
export type Mode = 'static' | 'ui' | 'report'

export const mode = ((typeof document === 'undefined'
  ? 'static'
  : document.documentElement.dataset['mode']) ?? 'static') as Mode
