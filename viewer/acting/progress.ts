import { signal } from '@preact/signals'
import { JsonObject } from '../../src/wire/index.js'

/** How far a request is. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Requests that are remembered. */
const mostKept = 50

/** By the progress token as a string: the last that the server told. */
const told = signal<ReadonlyMap<string, Progress>>(new Map())

/** @param text of a `notifications/progress` */
export function noteProgress(text: string): void {
  const params = new JsonObject(text, 0).object('params')
  const token = params?.string('progressToken')
  if (!params || token === undefined) return
  const total = Number(params.raw('total'))
  const message = params.string('message')
  const next = new Map(told.value)
  next.delete(token)
  next.set(token, {
    progress: Number(params.raw('progress')) || 0,
    ...(total > 0 && { total }),
    ...(message !== undefined && { message }),
  })
  if (next.size > mostKept) next.delete(next.keys().next().value!)
  told.value = next
}

/** @param key name of a request of this page, which is its progress token */
export function progressOf(key: string): Progress | undefined {
  return told.value.get(key)
}

/** In one line: `3 of 5 boiling`. */
export function progressWords({ progress, total, message }: Progress): string {
  return `${progress}${total === undefined ? '' : ` of ${total}`}${message === undefined ? '' : ` ${message}`}`
}
