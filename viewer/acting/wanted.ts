import { signal } from '@preact/signals'
import { JsonObject, readEnvelope } from '../../src/wire/index.js'
import { objectIn } from './values.js'

/** A recorded request that the workbench is to show in its form. */
export interface Wanted {
  readonly tab: 'tools' | 'prompts' | 'resources'
  /** Name of the tool or prompt, or URI of the resource. */
  readonly key: string
  /** Exact JSON text of the arguments. */
  readonly given: string
}

/** Consumed by the form that shows it. */
export const wanted = signal<Wanted | undefined>(undefined)

const tabs: Readonly<Record<string, Wanted['tab']>> = {
  'tools/call': 'tools',
  'prompts/get': 'prompts',
  'resources/read': 'resources',
}

/** Undefined for requests without a form. @param request exact text of a message */
export function wantedIn(request: string): Wanted | undefined {
  const { method = '' } = readEnvelope(request, 0)
  const params = new JsonObject(request, 0).object('params')
  const tab = Object.hasOwn(tabs, method) ? tabs[method] : undefined
  const key = params?.string(tab === 'resources' ? 'uri' : 'name')
  const given = params?.raw('arguments') ?? '{}'
  return tab === undefined || key === undefined
    ? undefined
    : { tab, key, given: given.startsWith('{') ? given : '{}' }
}

/** The arguments of a prompt, which are texts. */
export function textsIn({ given }: Wanted): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(objectIn(JSON.parse(given))).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
}

const storageKey = 'wiretape-bench'

/** Remembers what the next page shows, which is loaded for a new session. */
export function rememberFor(recording: string, request: Wanted | undefined): void {
  sessionStorage.setItem(storageKey, JSON.stringify({ recording, request }))
}

/** Whether this page just started the session of a recording; then its workbench opens. */
export function takeRemembered(recording: string | undefined): boolean {
  const text = sessionStorage.getItem(storageKey)
  if (text === null || recording === undefined) return false
  const found = JSON.parse(text) as { readonly recording: string; readonly request?: Wanted }
  if (found.recording !== recording) return false
  sessionStorage.removeItem(storageKey)
  wanted.value = found.request
  return true
}
