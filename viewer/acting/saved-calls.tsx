import { useEffect, useState } from 'preact/hooks'
import type { SavedFile } from '../../src/saved-calls/index.js'
import { clean } from '../shell/clean.js'
import { SavedConsent } from './saved-consent.js'
import {
  fault,
  keyOf,
  load,
  outcomes,
  run,
  running,
  saved,
  setVariable,
  valueOf,
  type Outcome,
} from './saved-run.js'

/** Whether the folder of saved calls has files. */
export function hasSavedCalls(): boolean {
  return (saved.value?.files.length ?? 0) > 0
}

/** The folder of saved calls. Runs one or all of them, and shows unexpected results. */
export function SavedCalls() {
  useEffect(() => void load(), [])
  const found = saved.value
  if (!found || !hasSavedCalls()) return null
  const good = found.files.filter((file) => file.fault === undefined)
  return (
    <section class="act-saved" aria-label="Saved calls">
      <header>
        <h2>Saved calls</h2>
        <code>{clean(found.folder)}</code>
        <button
          type="button"
          class="button small"
          disabled={running.value || good.length === 0}
          onClick={() => void run(good.map(({ file }) => ({ file })))}
        >
          Run all
        </button>
        {running.value && (
          <span class="quiet" role="status">
            running
          </span>
        )}
      </header>
      <p class="failure" role="alert">
        {clean(fault.value)}
      </p>
      {found.files.map((file) => (
        <File key={file.file} file={file} />
      ))}
      <SavedConsent />
    </section>
  )
}

function File(props: { readonly file: SavedFile }) {
  const { file, calls, variables, fault: problem } = props.file
  const servers = [...new Set(calls.map(({ server }) => server))]
  return (
    <article>
      <h3>
        {clean(file)}{' '}
        <button
          type="button"
          class="button small"
          aria-label={`Run file ${clean(file)}`}
          disabled={running.value || problem !== undefined}
          onClick={() => void run([{ file }])}
        >
          Run file
        </button>
      </h3>
      {problem !== undefined && <p class="failure">{clean(problem)}</p>}
      {variables.length > 0 && (
        <div class="act-variables" role="group" aria-label={`Variables of ${clean(file)}`}>
          {variables.map((variable) => (
            <Variable key={variable.name} file={file} {...variable} />
          ))}
        </div>
      )}
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
              disabled={running.value}
              onClick={() => void run([{ file, name }])}
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

/** JSON, or plain text. An empty field means the value of the file. */
function Variable(props: SavedFile['variables'][number] & { readonly file: string }) {
  const { file, name, value, isSecret } = props
  /** Text typed so far; a list that arrives meanwhile must not replace it. */
  const [draft, setDraft] = useState(valueOf(file, name) ?? '')
  return (
    <label>
      <span>{clean(name)}</span>
      <input
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={isSecret ? 'from the environment' : value === undefined ? 'no value yet' : clean(value)}
        value={draft}
        onInput={({ currentTarget }) => setDraft(currentTarget.value)}
        onChange={({ currentTarget }) => setVariable(file, name, currentTarget.value)}
      />
    </label>
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
