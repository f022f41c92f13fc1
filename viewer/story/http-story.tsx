import { formatDuration, phaseViews } from '../../src/render/index.js'
import type { HttpCourse } from './story-facts.js'

/** The phases of a call's HTTP exchange, as bars below each other. */
export function HttpStory({ http, began }: { readonly http: HttpCourse; readonly began: number }) {
  const { exchange, firstAt, lastAt, phases } = http
  if (!phases) {
    const streamed =
      firstAt !== undefined && lastAt > firstAt ? `, streamed ${formatDuration(lastAt - firstAt)}` : ''
    const waited =
      firstAt === undefined ? 'no response' : `waited ${formatDuration(firstAt - began)}${streamed}`
    return (
      <p class="quiet">
        HTTP exchange {exchange}: {waited}. The recording has no phase timings.
      </p>
    )
  }
  const before = phaseViews(phases).reduce((sum, { us }) => sum + us, 0)
  // The request may have been held first: the phases end where the stream begins.
  const whole = Math.max(before, lastAt - began)
  const views = phaseViews(phases, Math.max(0, whole - before))
  let at = 0
  return (
    <section class="http-phases" aria-label={`Phases of HTTP exchange ${exchange}`}>
      <p class="quiet">
        HTTP exchange {exchange}
        {phases.connectMs === undefined && ', on a reused connection'}
      </p>
      <dl>
        {views.map(({ name, us }) => {
          const left = (100 * at) / Math.max(1, whole)
          at += us
          return (
            <div key={name}>
              <dt>{name}</dt>
              <dd class={`phase-bar phase-${name.toLowerCase()}`}>
                <i style={{ left: `${left}%`, width: `${(100 * us) / Math.max(1, whole)}%` }} />
              </dd>
              <dd class="phase-time">{formatDuration(us)}</dd>
            </div>
          )
        })}
      </dl>
    </section>
  )
}
