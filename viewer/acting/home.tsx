import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { ListedRecording } from '../../src/control-schema/index.js'
import { countOf, formatBytes, formatDuration } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { clientConfiguration } from '../shell/client-configuration.js'
import { ConnectForm, connecting } from './connect.js'
import { Copied } from './copied.js'
import { door } from './door.js'
import { asked, Deleting, DeletingAll } from './home-delete.js'
import { listed, loadList, trouble } from './home-list.js'
import { loadSessions, SessionActions, Why } from './home-sessions.js'
import { FoundMessages, searchAll, searched } from './home-search.js'
import { store } from './place.js'
import { hasSavedCalls, SavedCalls } from './saved-calls.js'
import { SqlPanel, sqlOpen } from './sql-panel.js'

const ticked = signal<ReadonlySet<string>>(new Set())
const words = signal('')

/** Interval between two requests for the list. */
const pauseMs = 2_000

/** All recordings in the data folder or a store. */
export function Home() {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    let isGone = false
    const load = async (): Promise<void> => {
      await Promise.all([loadList(), loadSessions()])
      if (!isGone) timer = setTimeout(() => void load(), pauseMs)
    }
    void load()
    return () => {
      isGone = true
      clearTimeout(timer)
    }
  }, [])
  const all = listed.value
  if (trouble.value !== undefined)
    return (
      <p class="failure">
        Cannot load the list of recordings: {trouble.value}. Check that wiretape is still running.
      </p>
    )
  if (!all) return <p class="empty">Loading recordings…</p>
  if (all.length === 0 && typeof store.value === 'string')
    return (
      <p class="empty">
        No sessions in {clean(store.value)} yet. They appear when wiretape collect has indexed them.
      </p>
    )
  return all.length === 0 ? <First /> : <Recordings all={all} />
}

/** Shown without recordings: how to make one. */
function First() {
  return (
    <section class="recordings" aria-label="Your recordings">
      <h2>No recordings yet</h2>
      <p>Record all servers of your MCP client:</p>
      <Copied text="wiretape install --all" />
      <p>Or put wiretape in front of one server in your client's configuration:</p>
      <Copied
        text={clientConfiguration('my-server', ['npx', '-y', '@modelcontextprotocol/server-everything'])}
      />
      <p class="quiet">The first recording appears here automatically.</p>
      <button type="button" class="button" onClick={openSample}>
        Open a sample recording
      </button>
      <SavedCalls />
    </section>
  )
}

function searchFor(text: string): void {
  words.value = text
  void searchAll(text)
}

function Recordings({ all }: { readonly all: readonly ListedRecording[] }) {
  const shown = all.filter(matchesWords)
  const chosen = all.filter(({ id }) => ticked.value.has(id))
  const isStore = typeof store.value === 'string'
  return (
    <section class="recordings" aria-label="Your recordings">
      <Bar all={all} isStore={isStore} />
      {asked.value === 'selected' && chosen.length > 0 && <DeletingAll chosen={chosen} />}
      {sqlOpen.value && <SqlPanel />}
      {searched.value !== undefined && <FoundMessages search={searchFor} />}
      <div class={`home-table ${isStore ? 'of-store' : ''}`}>
        <table class="grid">
          <TableHead isStore={isStore} />
          <tbody>
            {shown.map((one) => (
              <Recording key={one.id} one={one} />
            ))}
          </tbody>
        </table>
      </div>
      {!isStore && <SavedCalls />}
      {connecting.value && <ConnectForm key={connecting.value.id} {...connecting.value} />}
      {shown.length === 0 && (
        <p class="quiet">
          No recording matches.{isStore ? '' : ' Press Enter to search the messages of all recordings.'}
        </p>
      )}
      <p class="quiet">
        {countOf(all.length, 'recording')},{' '}
        {formatBytes(all.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0))}
        {isStore && ` in ${clean(store.value!)}`}.{' '}
        <button type="button" class="button small" onClick={openSample}>
          Open a sample recording
        </button>
      </p>
    </section>
  )
}

function TableHead({ isStore }: { readonly isStore: boolean }) {
  return (
    <thead>
      <tr>
        <th aria-label="selected" />
        <th>recording</th>
        <th>server</th>
        <th>{isStore ? 'host' : 'client'}</th>
        <th>started</th>
        <th class="number">duration</th>
        <th class="number">messages</th>
        <th class="number">errors</th>
        <th class="number">size</th>
        <th aria-label="actions" />
      </tr>
    </thead>
  )
}

/** The search, and actions for the selected recordings. */
function Bar({ all, isStore }: { readonly all: readonly ListedRecording[]; readonly isStore: boolean }) {
  const chosen = all.filter(({ id }) => ticked.value.has(id))
  return (
    <form
      class="home-search"
      role="search"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isStore) void searchAll(words.value)
      }}
    >
      <span class="field grow">
        <input
          type="search"
          aria-label="Search all recordings"
          placeholder={
            isStore ? 'Name, server, host or day' : 'Name, server or client; Enter searches all messages'
          }
          value={words.value}
          onInput={(event) => {
            words.value = event.currentTarget.value
            searched.value = undefined
          }}
        />
      </span>
      {!isStore && (
        <button type="submit" class="button">
          Search messages
        </button>
      )}
      <button
        type="button"
        class="button"
        disabled={chosen.length !== 2}
        title="Select two recordings"
        onClick={() => openAll(older(chosen), '#view=compare')}
      >
        Compare
      </button>
      <button
        type="button"
        class="button"
        disabled={chosen.length < 2}
        title="Select two or more recordings to merge them by time"
        onClick={() => openAll(older(chosen))}
      >
        Open together
      </button>
      {!isStore && (
        <button
          type="button"
          class="button"
          disabled={chosen.length === 0}
          title="Select the recordings to delete. You confirm first."
          onClick={() => (asked.value = 'selected')}
        >
          Delete selected
        </button>
      )}
      <button
        type="button"
        class="button"
        aria-expanded={sqlOpen.value}
        title="Query all recordings with SQL"
        onClick={() => (sqlOpen.value = !sqlOpen.value)}
      >
        SQL
      </button>
      {!isStore && hasSavedCalls() && (
        <button
          type="button"
          class="button"
          onClick={() => document.querySelector('.act-saved')?.scrollIntoView({ block: 'start' })}
        >
          Saved calls
        </button>
      )}
    </form>
  )
}

const states = { live: 'live', complete: '', incomplete: 'truncated', failed: 'failed' } as const

function Recording({ one }: { readonly one: ListedRecording }) {
  const label = clean(one.label)
  return (
    <tr class={`recording is-${one.state}`} onClick={() => openAll([one])}>
      <td onClick={(event) => event.stopPropagation()}>
        <label class="tick">
          <input
            type="checkbox"
            aria-label={`Select ${label}`}
            checked={ticked.value.has(one.id)}
            onChange={() => tick(one.id)}
          />
        </label>
      </td>
      <th scope="row">
        <a
          href={addressOf([one])}
          title={clean(one.path)}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return event.stopPropagation()
            return event.preventDefault()
          }}
        >
          {label}
        </a>
        {states[one.state] !== '' && <span class="recording-state"> {states[one.state]}</span>}
        <Why recording={one.id} why={one.why} />
      </th>
      <td>{clean(one.server ?? '')}</td>
      <td>{clean(one.host ?? one.client ?? '')}</td>
      <td title={`${one.startedAt.slice(0, 19).replace('T', ' ')} UTC`}>{localTime(one.startedAt)}</td>
      <td class="number">{one.durationMs === null ? '' : formatDuration(one.durationMs * 1000)}</td>
      <td class="number">{one.messages ?? ''}</td>
      <td class={`number ${(one.errors ?? 0) > 0 ? 'bad' : ''}`}>{one.errors ?? ''}</td>
      <td class="number">{formatBytes(one.sizeBytes)}</td>
      <td class="home-actions" onClick={(event) => event.stopPropagation()}>
        <SessionActions recording={one.id} label={one.label} />
        {one.state !== 'live' && one.host === undefined && (
          <>
            {' '}
            {asked.value !== one.id && (
              <button
                type="button"
                class="button small"
                aria-label={`Connect to the server of ${label}`}
                title="Call the server's tools. You review the command first."
                onClick={() => (connecting.value = one)}
              >
                Connect
              </button>
            )}{' '}
            <Deleting one={one} label={label} />
          </>
        )}
      </td>
    </tr>
  )
}

function tick(id: string): void {
  const next = new Set(ticked.value)
  if (!next.delete(id)) next.add(id)
  ticked.value = next
  if (next.size === 0 && asked.value === 'selected') asked.value = undefined
}

function matchesWords({ label, server, client, name, host, startedAt }: ListedRecording): boolean {
  const text = words.value.trim().toLowerCase()
  if (text === '' || searched.value !== undefined) return true
  return [label, server ?? '', client ?? '', name, host ?? '', host ? startedAt : ''].some((part) =>
    part.toLowerCase().includes(text),
  )
}

/** Oldest first: a comparison takes the earlier recording as its base. */
function older(recordings: readonly ListedRecording[]): ListedRecording[] {
  return recordings.toSorted((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
}

function addressOf(recordings: readonly ListedRecording[], hash = ''): string {
  return `./?${recordings.map(({ id }) => `open=${encodeURIComponent(id)}`).join('&')}${hash}`
}

/** The URL names the open recordings, so that reloading and going back work. */
function openAll(recordings: readonly ListedRecording[], hash = ''): void {
  if (hash !== '') return location.assign(addressOf(recordings, hash))
  history.pushState(null, '', addressOf(recordings))
  void door.openListed(recordings)
}

function openSample(): void {
  location.assign('./?open=sample')
}

function localTime(iso: string): string {
  const time = new Date(iso)
  return Number.isNaN(time.getTime())
    ? ''
    : time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })
}
