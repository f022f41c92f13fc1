import { useSignal } from '@preact/signals'
import { countOf, formatDuration } from '../../src/render/index.js'
import type { Session } from '../../src/model/index.js'
import { dialog, lanes } from '../store/state.js'
import { Box } from './box.js'
import { ExportDialog } from './export-dialog.js'
import { failureText } from './failure.js'
import { clean } from './clean.js'
import { deeds, type Deed } from './keys.js'
import { redactionOf } from './status-bar.js'

export function Dialogs() {
  switch (dialog.value) {
    case 'help':
      return <Help />
    case 'palette':
      return <Palette />
    case 'problems':
      return <Problems />
    case 'session':
      return <Sessions />
    case 'export':
      return <ExportDialog />
    case undefined:
      return null
  }
}

function Help() {
  return (
    <Box title="Keyboard shortcuts" class="help">
      <div class="help-groups">
        {(['Navigate', 'View', 'Find', 'Page'] as const).map((group) => (
          <section key={group}>
            <h3>{group}</h3>
            <dl>
              {deeds
                .filter((deed) => deed.group === group)
                .map((deed) => (
                  <div key={deed.name}>
                    <dt>
                      {deed.keys?.map((key) => (
                        <kbd key={key}>{keyName(key)}</kbd>
                      ))}
                    </dt>
                    <dd>{deed.name}</dd>
                  </div>
                ))}
            </dl>
          </section>
        ))}
      </div>
      <p class="quiet">
        Timeline: drag to select a time range, scroll to zoom, Shift+scroll to move, double-click to reset.
      </p>
    </Box>
  )
}

function keyName(key: string): string {
  return { ArrowDown: '↓', ArrowUp: '↑', PageDown: 'PgDn', PageUp: 'PgUp' }[key] ?? key
}

function Palette() {
  const typed = useSignal('')
  const at = useSignal(0)
  const words = typed.value.toLowerCase().split(/\s+/)
  const found = deeds.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
  const run = (deed: Deed | undefined): void => {
    dialog.value = undefined
    // Runs after the dialog has returned the focus.
    setTimeout(() => deed?.run(), 0)
  }
  return (
    <Box title="Commands" class="palette">
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `deed-${at.value}` : undefined}
        aria-label="Command"
        placeholder="What do you want to do?"
        autofocus
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          at.value = 0
        }}
        onKeyDown={(event) => {
          if (event.key === 'ArrowDown') at.value = Math.min(found.length - 1, at.value + 1)
          else if (event.key === 'ArrowUp') at.value = Math.max(0, at.value - 1)
          else if (event.key === 'Enter') run(found[at.value])
          else return
          event.preventDefault()
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Commands">
        {found.map((deed, i) => (
          <li
            key={deed.name}
            id={`deed-${i}`}
            role="option"
            aria-selected={i === at.value}
            onPointerMove={() => (at.value = i)}
            onClick={() => run(deed)}
          >
            {deed.name}
            <span>
              {deed.keys?.slice(0, 1).map((key) => (
                <kbd key={key}>{keyName(key)}</kbd>
              ))}
            </span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="quiet">No matching command.</p>}
    </Box>
  )
}

function Problems() {
  return (
    <Box title="Problems in the files">
      {lanes.value.map((one) => (
        <section key={one.index} class="problems">
          {(one.failure || one.problemCount > 0) && <h3>{clean(one.name)}</h3>}
          {one.failure && <p class="failure">{failureText(one.failure)}</p>}
          <ul>
            {one.problems.map((problem, i) => (
              <li key={i} class={`is-${problem.severity}`}>
                {problem.at?.line !== undefined && <span class="place">line {problem.at.line}</span>}
                {clean(problem.message)}
              </li>
            ))}
          </ul>
          {one.problemCount > one.problems.length && (
            <p class="quiet">and {countOf(one.problemCount - one.problems.length, 'more', 'more')}</p>
          )}
        </section>
      ))}
    </Box>
  )
}

function Sessions() {
  return (
    <Box title="About this recording" class="sessions">
      {lanes.value.map((one) => (
        <section key={one.index}>
          <h3>
            <i class={`swatch lane-${one.index % 8}`} /> {clean(one.name)}
          </h3>
          {one.failure && <p class="failure">{failureText(one.failure)}</p>}
          {one.sessions.map((session) => (
            <SessionFacts key={session.id} session={session} format={one.format} />
          ))}
        </section>
      ))}
    </Box>
  )
}

function SessionFacts({ session, format }: { readonly session: Session; readonly format: string }) {
  const end = session.complete
    ? session.recovered
      ? 'recovered, end unknown'
      : `ended${session.signal === undefined ? '' : ` by ${session.signal}`}${session.exitCode === undefined ? '' : `, exit status ${session.exitCode}`}`
    : 'unknown: truncated or still recording'
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['label', session.label],
    ['format', format],
    ['server', session.server && `${session.server.name} ${session.server.version}`],
    ['client', session.client && `${session.client.name} ${session.client.version}`],
    ['protocol', [session.protocolVersion, ...session.eras].filter(Boolean).join(' · ')],
    ['transport', session.transport],
    ['command', session.command.join(' ')],
    ['URL', session.url ?? undefined],
    ['started', session.startedAt],
    ['duration', session.durationMs === undefined ? undefined : formatDuration(session.durationMs * 1000)],
    ['end', session.error ?? end],
    ['redaction', redactionOf(session, format) ?? 'unknown'],
    ['redacted', session.redacted?.map(({ rule, count }) => `${rule} ${count}`).join(', ')],
    ...session.metadata.map(([name, text]) => [name, text] as const),
  ]
  return (
    <table class="headers">
      <tbody>
        {facts.map(([name, text]) =>
          text === undefined || text === '' ? null : (
            <tr key={name}>
              <th scope="row">{clean(name)}</th>
              <td>{clean(text)}</td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  )
}
