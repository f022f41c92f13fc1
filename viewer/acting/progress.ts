import { signal } from '@preact/signals'
import { JsonObject } from '../../src/wire/index.js'

/** Progress of a request. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** Maximum number of requests remembered. */
const mostKept = 50

/** The last progress of each request, by progress token as a string. */
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

/** @param key of a request from this page; serves as its progress token */
export function progressOf(key: string): Progress | undefined {
  return told.value.get(key)
}

/** On one line: `3 of 5 boiling`. */
export function progressWords({ progress, total, message }: Progress): string {
  return `${progress}${total === undefined ? '' : ` of ${total}`}${message === undefined ? '' : ` ${message}`}`
}
