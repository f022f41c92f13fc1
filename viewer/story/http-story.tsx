import { countOf, formatDuration, phaseViews } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import type { HttpCourse } from './story-facts.js'

/** More HTTP exchanges than this are collapsed. */
const mostOpen = 2

/** The first HTTP exchange of a story, and the others: polls, later rounds, responses to the server. */
export function HttpStories({ all }: { readonly all: readonly HttpCourse[] }) {
  const [first, ...others] = all
  if (!first) return null
  return (
    <>
      <HttpStory http={first} />
      {others.length > 0 && (
        <details class="http-others" open={others.length < mostOpen}>
          <summary>{countOf(others.length, 'further HTTP exchange')}</summary>
          {others.map((http) => (
            <HttpStory key={http.exchange} http={http} name={http.name} />
          ))}
        </details>
      )}
    </>
  )
}

/** The phases of an HTTP exchange, as bars below each other. */
function HttpStory({ http, name = '' }: { readonly http: HttpCourse; readonly name?: string }) {
  const { exchange, began, firstAt, lastAt, phases } = http
  const of = name === '' ? '' : `, ${clean(name)}`
  if (!phases) {
    const streamed =
      firstAt !== undefined && lastAt > firstAt ? `, streamed ${formatDuration(lastAt - firstAt)}` : ''
    const waited =
      firstAt === undefined ? 'no response' : `waited ${formatDuration(firstAt - began)}${streamed}`
    return (
      <p class="quiet">
        HTTP exchange {exchange}
        {of}: {waited}. The recording has no phase timings.
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
        {of}
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
