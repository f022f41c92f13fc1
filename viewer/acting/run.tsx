import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Boundary } from './boundary.js'
import { ask, cancel, newKey } from './peer.js'
import { progressOf, progressWords } from './progress.js'
import { Said } from './said.js'
import { SaveCall } from './save-call.js'
import type { Answer } from './session.js'
import { held, wordsOf } from './state.js'
import { nameOf } from './told.js'

/** A request from a form, with its progress, cancellation and response. */
export interface Run {
  readonly key: string | undefined
  readonly said: Answer | undefined
  /** The last request. */
  readonly asked: { readonly method: string; readonly params: string } | undefined
  /** @param params exact JSON text of an object */
  start(method: string, params: string): Promise<Answer>
  clear(): void
}

export function useRun(): Run {
  const [key, setKey] = useState<string | undefined>(undefined)
  const [said, setSaid] = useState<Answer | undefined>(undefined)
  const [asked, setAsked] = useState<Run['asked']>(undefined)
  return {
    key,
    said,
    asked,
    async start(method, params) {
      const own = newKey()
      setKey(own)
      setAsked({ method, params })
      setSaid(undefined)
      let answer: Answer
      try {
        answer = await ask(method, withProgress(params, own), own)
      } catch (error) {
        answer = { error: wordsOf(error) }
      }
      setKey(undefined)
      setSaid(answer)
      return answer
    },
    clear: () => setSaid(undefined),
  }
}

/** Asks the server for progress notifications. */
function withProgress(params: string, key: string): string {
  const rest = params.trimStart().slice(1)
  const meta = `"_meta":{"progressToken":${JSON.stringify(key)}}`
  return `{${meta}${rest.trimStart().startsWith('}') ? '' : ','}${rest}`
}

/** The send button, other buttons beside it, and the outcome of the request. */
export function RunBox(props: {
  readonly run: Run
  readonly verb: string
  readonly children?: ComponentChildren
}) {
  const { run, verb, children } = props
  const { key, said, asked } = run
  const progress = key === undefined ? undefined : progressOf(key)
  return (
    <>
      <p class="act-run">
        <button type="submit" class="button primary" disabled={key !== undefined}>
          {verb}
        </button>
        {children}
        {key !== undefined && (
          <button type="button" class="button" onClick={() => void cancel(key)}>
            Cancel
          </button>
        )}
        {key !== undefined && (
          <span class="quiet" role="status">
            {progress !== undefined
              ? nameOf(progressWords(progress))
              : held.value.length > 0
                ? 'a message is held: forward, edit, answer or drop it'
                : 'waiting for the response'}
          </span>
        )}
        {progress?.total !== undefined && (
          <progress aria-label="Progress" value={progress.progress} max={progress.total} />
        )}
      </p>
      {said && (
        <Boundary json={said.answer ?? ''}>
          <Said said={said} />
        </Boundary>
      )}
      {said?.answer !== undefined && asked && <SaveCall {...asked} answer={said.answer} />}
    </>
  )
}
