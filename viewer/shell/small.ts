import { signal } from '@preact/signals'

/** A phone: one pane at a time, rows of two lines. The width must match the style sheets. */
export const isSmall = signal(false)

const query = typeof matchMedia === 'undefined' ? undefined : matchMedia('(max-width: 700px)')
if (query) {
  isSmall.value = query.matches
  query.addEventListener('change', ({ matches }) => (isSmall.value = matches))
}
