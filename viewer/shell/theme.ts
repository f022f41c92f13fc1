import { computed, effect, signal } from '@preact/signals'
import { theme } from '../store/state.js'

const systemIsDark = signal(false)

/** What the person chose, else what the system says. */
export const isDark = computed(() => (theme.value === 'system' ? systemIsDark.value : theme.value === 'dark'))

/** Keeps the colours of the page: the style sheet asks for nothing but `data-theme`. */
export function bindTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  systemIsDark.value = system.matches
  system.addEventListener('change', () => (systemIsDark.value = system.matches))
  effect(() => {
    document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light'
  })
}
