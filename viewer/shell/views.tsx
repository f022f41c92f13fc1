import { signal } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'
import { mode } from './mode.js'
import { loadScript } from './own-script.js'

/** Parts of the third script by name. `views/main.ts` extends this type, so nothing here imports them. */
export interface Views {}

const views = signal<Views | undefined>(undefined)
const failure = signal('')
let coming: Promise<Views> | undefined

/** The views of the third script; loaded once, when the first one is needed. */
export function loadViews(): Promise<Views> {
  coming ??= new Promise<Views>((done, failed) => {
    const arrived = (): void => {
      const { wiretapeViews } = globalThis as { wiretapeViews?: Views }
      views.value = wiretapeViews
      if (wiretapeViews) done(wiretapeViews)
      else failed(new Error('views.js belongs to another version of wiretape. Reload the page.'))
    }
    if ('wiretapeViews' in globalThis) arrived()
    // In a report, the third script follows the script of the page.
    else if (mode === 'report') addEventListener('DOMContentLoaded', arrived)
    else {
      loadScript('views.js', arrived, () =>
        failed(new Error('Cannot load views.js. Check that its server is still running.')),
      )
    }
  })
  coming.catch((error: Error) => {
    coming = undefined
    failure.value = error.message
  })
  return coming
}

/** The views, once loaded. */
function useViews(): Views | undefined {
  const here = views.value
  useEffect(() => {
    if (!here) void loadViews()
  }, [here])
  return here
}

type Parts = { [K in keyof Views]: Views[K] extends (props: infer P) => ComponentChildren ? P : never }

/** A component of the third script. */
export function Later<K extends keyof Views>({ part, of }: { readonly part: K; readonly of: Parts[K] }) {
  const Part = useViews()?.[part] as ComponentType<object> | undefined
  return Part ? <Part {...(of as object)} /> : <Coming />
}

function Coming() {
  if (failure.value !== '') return <p class="failure">{failure.value}</p>
  return <div class="message loading" aria-busy="true" />
}
