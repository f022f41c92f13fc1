import type { HeldEvent } from '../../src/control-schema/index.js'
import { readEnvelope } from '../../src/wire/index.js'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { act, form, held } from './state.js'

/** Messages shown at once; the others follow when these are released. */
const mostShown = 50

const reasons: Readonly<Record<HeldEvent['reason'], string>> = {
  hold: 'held',
  breakpoint: 'held by a breakpoint',
  rule: 'held by a rule',
  order: 'waiting behind another message',
}

/** Held messages, oldest first. */
export function HeldQueue() {
  if (held.value.length === 0) return null
  const more = held.value.length - mostShown
  return (
    <ul class="act-queue" aria-label="Held messages">
      {held.value.slice(0, mostShown).map((one) => (
        <li key={one.message}>
          <Boundary json={one.text}>
            <Held held={one} />
          </Boundary>
        </li>
      ))}
      {more > 0 && <li class="quiet">and {more} more</li>}
    </ul>
  )
}

function Held({ held: one }: { readonly held: HeldEvent }) {
  const { message } = one
  const what = whatIs(one)
  return (
    <>
      <span
        class="act-what"
        title={one.direction === 'client_to_server' ? 'from the client' : 'from the server'}
      >
        <span aria-hidden="true">{one.direction === 'client_to_server' ? '→' : '←'}</span>{' '}
        <b>{clean(what.name)}</b>{' '}
        <span class="quiet">
          {clean(
            one.moot ?? (one.by === undefined ? reasons[one.reason] : `${reasons[one.reason]}: ${one.by}`),
          )}
        </span>
      </span>
      <span class="act-decide" role="group" aria-label={`Actions for ${clean(what.name)}`}>
        <button type="button" class="button small" onClick={() => void act({ type: 'forward', message })}>
          Forward
        </button>
        <button type="button" class="button small" onClick={() => (form.value = { kind: 'edit', held: one })}>
          Edit
        </button>
        {what.isRequest && (
          <button
            type="button"
            class="button small"
            onClick={() => (form.value = { kind: 'answer', held: one })}
          >
            Answer
          </button>
        )}
        <button type="button" class="button small" onClick={() => void act({ type: 'drop', message })}>
          Drop
        </button>
      </span>
    </>
  )
}

function whatIs({ text }: HeldEvent): { readonly name: string; readonly isRequest: boolean } {
  const { kind, method, subject } = readEnvelope(text, 0)
  const name =
    method === undefined ? (kind === 'error' ? 'error' : 'result') : `${method} ${subject ?? ''}`.trim()
  return { name, isRequest: kind === 'request' }
}
