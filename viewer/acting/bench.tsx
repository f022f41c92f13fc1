import { signal } from '@preact/signals'
import { clean } from '../shell/clean.js'
import { LogTab, RootsTab } from './log-tab.js'
import { PromptsTab } from './prompts-tab.js'
import { Questions } from './questions.js'
import { ResourcesTab } from './resources-tab.js'
import { ended, notifications, questions, serverSays, session } from './session.js'
import { textIn } from './state.js'
import { ToolsTab } from './tools-tab.js'

type Tab = 'tools' | 'prompts' | 'resources' | 'notifications' | 'roots'

export const benchOpen = signal(false)
const tab = signal<Tab>('tools')

/** Beside the messages: what the server offers, as forms, and what it asks. */
export function Bench() {
  if (!benchOpen.value) return null
  const tabs: readonly Tab[] = session.value
    ? ['tools', 'prompts', 'resources', 'notifications', 'roots']
    : ['tools', 'prompts', 'resources']
  const chosen = tabs.includes(tab.value) ? tab.value : 'tools'
  const { serverInfo, instructions } = serverSays.value
  return (
    <aside class="act-bench" aria-label="Workbench" onKeyDown={keepKeys}>
      <header>
        <h2>
          {session.value && serverInfo
            ? clean(`${textIn(serverInfo.name)} ${textIn(serverInfo.version)}`)
            : 'Call the server'}
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
      {session.value && typeof instructions === 'string' && (
        <details>
          <summary>Instructions of the server</summary>
          <p class="act-about">{clean(instructions)}</p>
        </details>
      )}
      <Questions />
      <div class="act-tabs" role="group" aria-label="What to do">
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
        {chosen === 'tools' && <ToolsTab />}
        {chosen === 'prompts' && <PromptsTab />}
        {chosen === 'resources' && <ResourcesTab />}
        {chosen === 'notifications' && <LogTab />}
        {chosen === 'roots' && <RootsTab />}
      </div>
    </aside>
  )
}

/** Keys that are typed here are not those of the page. */
function keepKeys(event: KeyboardEvent): void {
  if (event.key === 'Escape') benchOpen.value = false
  event.stopPropagation()
}

questions.subscribe((all) => {
  // Somebody waits for an answer.
  if (all.length > 0) benchOpen.value = true
})
