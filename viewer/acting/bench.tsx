import { signal } from '@preact/signals'
import { remember, remembered } from '../shell/memory.js'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { HeldQueue } from './held-queue.js'
import { LogTab, RootsTab } from './log-tab.js'
import { PromptsTab } from './prompts-tab.js'
import { Questions } from './questions.js'
import { ResourcesTab } from './resources-tab.js'
import { ended, endSession, keepOpen, notifications, questions, serverSays, session } from './session.js'
import { nameOf, Told } from './told.js'
import { ToolsTab } from './tools-tab.js'
import { textIn } from './values.js'

type Tab = 'tools' | 'prompts' | 'resources' | 'notifications' | 'roots'

export const benchOpen = signal(false)
export const tab = signal<Tab>('tools')
/** Pixels. */
const narrowest = 320
const widest = 900
const width = signal(clamped(Number(remembered('bench-width')) || 460))

/** The rest of the page makes room for the workbench. */
width.subscribe((value) => document.documentElement.style.setProperty('--bench', `${value}px`))

function clamped(pixels: number): number {
  return Math.round(Math.max(narrowest, Math.min(widest, pixels)))
}

function resize(pixels: number): void {
  width.value = clamped(pixels)
  remember('bench-width', String(width.value))
}

/** Beside the messages: forms for the server's tools, prompts and resources, and the server's requests. */
export function Bench() {
  if (!benchOpen.value) return null
  const tabs: readonly Tab[] = session.value
    ? ['tools', 'prompts', 'resources', 'notifications', 'roots']
    : ['tools', 'prompts', 'resources']
  const chosen = tabs.includes(tab.value) ? tab.value : 'tools'
  const { serverInfo, instructions } = serverSays.value
  return (
    <aside class="act-bench" aria-label="Workbench" tabIndex={-1} onKeyDown={keepKeys}>
      <Edge />
      <header>
        <h2 title={session.value && serverInfo ? clean(textIn(serverInfo.name)) : undefined}>
          {session.value && serverInfo
            ? nameOf(`${textIn(serverInfo.name)} ${textIn(serverInfo.version)}`)
            : 'Workbench'}
        </h2>
        <button type="button" class="button small" onClick={() => (benchOpen.value = false)}>
          Close
        </button>
      </header>
      {session.value && ended.value !== undefined && (
        <p class="failure" role="alert">
          {clean(ended.value)}
        </p>
      )}
      {session.value && <SessionLine />}
      {session.value && typeof instructions === 'string' && (
        <details>
          <summary>Server instructions</summary>
          <p class="act-about">
            <Told text={instructions} />
          </p>
        </details>
      )}
      <HeldQueue />
      <Questions />
      <div class="act-tabs" role="group" aria-label="Sections">
        {tabs.map((one) => (
          <button
            key={one}
            type="button"
            class={`button small ${one === chosen ? 'on' : ''}`}
            aria-pressed={one === chosen}
            onClick={() => (tab.value = one)}
          >
            {one.charAt(0).toUpperCase() + one.slice(1)}
            {one === 'notifications' && notifications.value.length > 0 && (
              <span class="count"> {notifications.value.length}</span>
            )}
          </button>
        ))}
      </div>
      <div class="act-tab" key={session.value?.id ?? ''}>
        <Boundary key={chosen}>
          {chosen === 'tools' && <ToolsTab />}
          {chosen === 'prompts' && <PromptsTab />}
          {chosen === 'resources' && <ResourcesTab />}
          {chosen === 'notifications' && <LogTab />}
          {chosen === 'roots' && <RootsTab />}
        </Boundary>
      </div>
    </aside>
  )
}

/** The edge between messages and workbench: moved by dragging or by the arrow keys. */
function Edge() {
  return (
    <div
      class="act-edge"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Workbench width"
      aria-valuenow={width.value}
      aria-valuemin={narrowest}
      aria-valuemax={widest}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') resize(width.value + 20)
        if (key === 'ArrowRight') resize(width.value - 20)
      }}
      onPointerDown={(event) => {
        event.preventDefault()
        event.currentTarget.setPointerCapture(event.pointerId)
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) resize(innerWidth - event.clientX)
      }}
    />
  )
}

/** When the session ends, and buttons that keep it open or end it. */
function SessionLine() {
  const { isKept = false } = session.value!
  return (
    <p class="act-session quiet">
      <span>
        {ended.value !== undefined
          ? 'The session has ended.'
          : isKept
            ? 'Stays open after its last page is closed, until wiretape exits.'
            : 'Ends 30 s after its last page is closed.'}
      </span>
      {ended.value === undefined && (
        <button
          type="button"
          class={`button small ${isKept ? 'on' : ''}`}
          aria-pressed={isKept}
          onClick={() => void keepOpen(!isKept)}
        >
          Keep open
        </button>
      )}
      <button
        type="button"
        class="button small"
        title="Stop the server and end its recording"
        onClick={() => void endSession()}
      >
        End session
      </button>
    </p>
  )
}

const fields = 'input, textarea, select, .cm-content'

/** Keys typed here are not shortcuts of the page. Escape leaves a field first. */
function keepKeys(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  event.stopPropagation()
  // The editor closes its list of completions itself.
  if (event.key !== 'Escape' || event.defaultPrevented || event.isComposing) return
  const [within] = event.composedPath()
  if (within instanceof Element && within.matches(fields)) event.currentTarget.focus()
  else benchOpen.value = false
}

questions.subscribe((all) => {
  // The server awaits a response.
  if (all.length > 0) benchOpen.value = true
})
