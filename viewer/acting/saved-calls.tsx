import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { askToAct } from './channel.js'
import { session } from './session.js'
import { recordingOf, target, tell, wordsOf } from './state.js'

interface SavedFile {
  readonly file: string
  readonly calls: readonly {
    readonly name: string
    readonly line: number
    readonly what: string
    readonly server: string
  }[]
  readonly fault?: string
}

/** An exchange in the report of `wiretape run`. */
interface Outcome {
  readonly verdict: string
  readonly call: { readonly file: string; readonly name: string }
  readonly differences: readonly {
    readonly path: string
    readonly before?: unknown
    readonly after?: unknown
    readonly beforeCut?: string
    readonly afterCut?: string
  }[]
  readonly notes?: readonly string[]
  readonly after?: { readonly failure?: string }
}

const saved = signal<{ readonly folder: string; readonly files: readonly SavedFile[] } | undefined>(undefined)
const outcomes = signal<ReadonlyMap<string, Outcome>>(new Map())

const keyOf = (file: string, name: string): string => JSON.stringify([file, name])

async function load(): Promise<void> {
  try {
    saved.value = (await askToAct('./api/saved')) as typeof saved.value
  } catch {
    // This wiretape has no saved calls.
  }
}

/** The folder of saved calls. Runs one or all of them, and shows unexpected results. */
export function SavedCalls() {
  const [busy, setBusy] = useState(false)
  const [fault, setFault] = useState('')
  useEffect(() => void load(), [])
  const found = saved.value
  if (!found || found.files.length === 0) return null
  const run = async (only: { readonly file?: string; readonly name?: string }): Promise<void> => {
    setBusy(true)
    setFault('')
    try {
      const { exchanges } = (await askToAct('./api/saved', { type: 'run', ...only })) as {
        readonly exchanges: readonly Outcome[]
      }
      const next = new Map(outcomes.value)
      for (const one of exchanges) next.set(keyOf(one.call.file, one.call.name), one)
      outcomes.value = next
    } catch (error) {
      setFault(wordsOf(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <section class="act-saved" aria-label="Saved calls">
      <header>
        <h2>Saved calls</h2>
        <code>{clean(found.folder)}</code>
        <button type="button" class="button small" disabled={busy} onClick={() => void run({})}>
          Run all
        </button>
        {busy && (
          <span class="quiet" role="status">
            running
          </span>
        )}
      </header>
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
      {found.files.map((file) => (
        <File key={file.file} file={file} busy={busy} run={run} />
      ))}
    </section>
  )
}

function File(props: {
  readonly file: SavedFile
  readonly busy: boolean
  readonly run: (only: { readonly file: string; readonly name?: string }) => Promise<void>
}) {
  const { file, calls, fault } = props.file
  const servers = [...new Set(calls.map(({ server }) => server))]
  return (
    <article>
      <h3>
        {clean(file)}{' '}
        <button
          type="button"
          class="button small"
          aria-label={`Run file ${clean(file)}`}
          disabled={props.busy || fault !== undefined}
          onClick={() => void props.run({ file })}
        >
          Run file
        </button>
      </h3>
      {fault !== undefined && <p class="failure">{clean(fault)}</p>}
      {servers.map((server) => (
        <p key={server} class="quiet">
          <code>{clean(server)}</code>
        </p>
      ))}
      <ul class="act-log">
        {calls.map(({ name, what }) => (
          <li key={name}>
            <button
              type="button"
              class="button small"
              aria-label={`Run ${clean(name)}`}
              disabled={props.busy}
              onClick={() => void props.run({ file, name })}
            >
              Run
            </button>{' '}
            <b>{clean(name)}</b> <span class="quiet">{clean(what)}</span>
            <Told outcome={outcomes.value.get(keyOf(file, name))} />
          </li>
        ))}
      </ul>
    </article>
  )
}

function Told({ outcome }: { readonly outcome: Outcome | undefined }) {
  if (!outcome) return null
  const { verdict, differences, notes = [], after } = outcome
  return (
    <div role="status">
      <span class={verdict === 'same' ? 'good' : 'bad'}>
        {verdict === 'same' ? 'as expected' : clean(verdict)}
      </span>
      {after?.failure !== undefined && verdict !== 'same' && <p>{clean(after.failure)}</p>}
      {notes.map((note) => (
        <p key={note}>{clean(note)}</p>
      ))}
      {differences.map(({ path, before, beforeCut, after: now, afterCut }, i) => (
        <p key={i}>
          <code>{clean(path)}</code>: expected <code>{clean(beforeCut ?? textOf(before))}</code>, got{' '}
          <code>{clean(afterCut ?? textOf(now))}</code>
        </p>
      ))}
    </div>
  )
}

function textOf(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value)
}

/** Saves a call, with its response as the expected one. */
export function SaveCall(props: {
  readonly method: string
  readonly params: string
  readonly answer: string
}) {
  const [file, setFile] = useState('calls.yaml')
  const save = async (): Promise<void> => {
    try {
      const lane = target.value
      const recording = session.value?.recording ?? (lane && (await recordingOf(lane)))
      const { told } = (await askToAct('./api/saved', { type: 'save', file, recording, ...props })) as {
        readonly told: string
      }
      tell(told)
    } catch (error) {
      tell(wordsOf(error), 'bad')
    }
  }
  return (
    <p class="act-run">
      <label class="act-times">
        Save to{' '}
        <input
          type="text"
          aria-label="File of saved calls"
          value={file}
          onInput={({ currentTarget }) => setFile(currentTarget.value)}
          onKeyDown={(event) => {
            // Otherwise Enter would submit the surrounding form and send the request again.
            if (event.key !== 'Enter') return
            event.preventDefault()
            void save()
          }}
        />
      </label>
      <button type="button" class="button small" onClick={() => void save()}>
        Save the call
      </button>
    </p>
  )
}
