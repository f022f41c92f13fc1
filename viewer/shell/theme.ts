import { computed, effect, signal } from '@preact/signals'
import { theme } from '../store/state.js'

const systemIsDark = signal(false)

/** The user's choice, else the system's setting. */
export const isDark = computed(() => (theme.value === 'system' ? systemIsDark.value : theme.value === 'dark'))

/** Keeps the page's theme up to date; the style sheet depends on `data-theme` only. */
export function bindTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  systemIsDark.value = system.matches
  system.addEventListener('change', () => (systemIsDark.value = system.matches))
  effect(() => {
    document.documentElement.dataset['theme'] = isDark.value ? 'dark' : 'light'
  })
}
