import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Boundary } from './boundary.js'
import { ask, cancel, newKey } from './peer.js'
import { progressOf, progressWords, type Progress } from './progress.js'
import { Said } from './said.js'
import { SaveCall } from './save-call.js'
import type { Answer } from './session.js'
import { held, wordsOf } from './state.js'
import { resultOfTask, type TaskTold } from './task-call.js'
import { nameOf } from './told.js'

interface Asked {
  readonly method: string
  readonly params: string
  /** The call was made as a task. */
  readonly isTask: boolean
}

/** A request from a form, with its progress, cancellation and response. */
export interface Run {
  /** Of the request in progress. */
  readonly key: string | undefined
  /** The task in progress. */
  readonly task: TaskTold | undefined
  readonly said: Answer | undefined
  /** The last request. */
  readonly asked: Asked | undefined
  /**
   * @param params exact JSON text of an object
   * @param asTask asks the server to run it as a task
   */
  start(method: string, params: string, asTask?: boolean): Promise<void>
  cancel(): void
}

/** Its state is in signals: whoever reads it is drawn again. */
export function createRun(): Run {
  const key = signal<string | undefined>(undefined)
  const task = signal<TaskTold | undefined>(undefined)
  const said = signal<Answer | undefined>(undefined)
  const asked = signal<Asked | undefined>(undefined)
  let abort = new AbortController()
  /** Requests about the task that wait for a response. */
  const waiting = new Set<string>()

  async function sendAbout(method: string, params: string): Promise<Answer> {
    const own = newKey()
    waiting.add(own)
    return ask(method, params, own).finally(() => waiting.delete(own))
  }

  async function answerTo(method: string, params: string, own: string): Promise<Answer> {
    const startedAtMs = performance.now()
    const first = await ask(method, params, own)
    const last = await resultOfTask(first, {
      send: sendAbout,
      told: (now) => (task.value = now),
      cancelled: abort.signal,
    })
    return last === first ? first : { ...last, latencyMs: performance.now() - startedAtMs }
  }

  return {
    get key() {
      return key.value
    },
    get task() {
      return task.value
    },
    get said() {
      return said.value
    },
    get asked() {
      return asked.value
    },
    async start(method, params, asTask = false) {
      const own = newKey()
      abort = new AbortController()
      key.value = own
      said.value = undefined
      task.value = undefined
      const sent = withMembers(params, [
        `"_meta":{"progressToken":${JSON.stringify(own)}}`,
        ...(asTask ? ['"task":{}'] : []),
      ])
      let answer: Answer
      try {
        answer = await answerTo(method, sent, own)
      } catch (error) {
        answer = { error: wordsOf(error) }
      }
      asked.value = { method, params, isTask: task.value !== undefined }
      key.value = undefined
      said.value = answer
    },
    cancel() {
      // The request that created a task has been answered.
      if (task.value !== undefined) {
        for (const own of waiting) void cancel(own)
        abort.abort()
      } else if (key.value !== undefined) void cancel(key.value)
    },
  }
}

function withMembers(params: string, members: readonly string[]): string {
  const rest = params.trimStart().slice(1)
  return `{${members.join(',')}${rest.trimStart().startsWith('}') ? '' : ','}${rest}`
}

/** The send button, other buttons beside it, and the outcome of the request. */
export function RunBox(props: {
  readonly run: Run
  readonly verb: string
  readonly children?: ComponentChildren
}) {
  const { run, verb, children } = props
  const { key, said, asked } = run
  return (
    <>
      <p class="act-run">
        <button type="submit" class="button primary" disabled={key !== undefined}>
          {verb}
        </button>
        {children}
        {key !== undefined && (
          <button type="button" class="button" onClick={() => run.cancel()}>
            Cancel
          </button>
        )}
        {key !== undefined && <Waiting progress={progressOf(key)} task={run.task} />}
      </p>
      {said && (
        <Boundary json={said.answer ?? ''}>
          <Said said={said} />
        </Boundary>
      )}
      {said?.answer !== undefined && asked?.isTask === false && (
        <SaveCall method={asked.method} params={asked.params} answer={said.answer} />
      )}
      {said?.answer !== undefined && asked?.isTask === true && (
        <p class="quiet">Calls that run as tasks cannot be saved.</p>
      )}
    </>
  )
}

/** The state of a request in progress. */
export function Waiting(props: {
  readonly progress: Progress | undefined
  readonly task?: TaskTold | undefined
}) {
  const { progress, task } = props
  const words = [
    ...(task ? [taskWords(task)] : []),
    ...(progress ? [nameOf(progressWords(progress))] : []),
    ...(held.value.length > 0 ? ['a message is held: forward, edit, answer or drop it'] : []),
  ]
  return (
    <>
      <span class="quiet act-status" role="status">
        {words.join(' · ') || 'waiting for the response'}
      </span>
      {progress?.total !== undefined && (
        <progress aria-label="Progress" value={progress.progress} max={progress.total} />
      )}
    </>
  )
}

function taskWords({ status, message }: TaskTold): string {
  const state = status === 'input_required' ? 'waiting for input' : nameOf(status)
  return `task: ${state}${message === '' ? '' : ` · ${nameOf(message)}`}`
}
