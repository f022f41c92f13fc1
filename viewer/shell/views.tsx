import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { Views } from '../views/main.js'
import { mode } from './mode.js'
import { loadScript } from './own-script.js'

const views = signal<Views | undefined>(undefined)
const failure = signal('')
let coming: Promise<Views> | undefined

/** The views that the page does not begin with; loaded once, when the first is asked for. */
export function loadViews(): Promise<Views> {
  coming ??= new Promise<Views>((done, failed) => {
    const arrived = (): void => {
      const { wiretapeViews } = globalThis as { wiretapeViews?: Views }
      views.value = wiretapeViews
      if (wiretapeViews) done(wiretapeViews)
      else failed(new Error('views.js is not of this version: reload the page.'))
    }
    if ('wiretapeViews' in globalThis) arrived()
    // A report has it behind the script of the page.
    else if (mode === 'report') addEventListener('DOMContentLoaded', arrived)
    else {
      loadScript('views.js', arrived, () =>
        failed(new Error('views.js did not arrive: is its server still running?')),
      )
    }
  })
  coming.catch((error: Error) => {
    coming = undefined
    failure.value = error.message
  })
  return coming
}

/** Those views, once they are here. */
function useViews(): Views | undefined {
  const here = views.value
  useEffect(() => {
    if (!here) void loadViews()
  }, [here])
  return here
}

type Page = { [K in keyof Views]: K extends `${string}Page` ? K : never }[keyof Views]

/** A whole view of the page. */
export function OtherView({ name }: { readonly name: Page }) {
  const View = useViews()?.[name]
  return View ? <View /> : <Coming />
}

/** Everything that belongs to a call. */
export function Story({ row }: { readonly row: number }) {
  const { StoryView } = useViews() ?? {}
  return StoryView ? <StoryView row={row} /> : <Coming />
}

function Coming() {
  if (failure.value !== '') return <p class="failure">{failure.value}</p>
  return <div class="message loading" aria-busy="true" />
}
