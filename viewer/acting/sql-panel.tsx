import { signal } from '@preact/signals'
import type { SqlAnswer } from '../../src/control-schema/index.js'
import { countOf } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { askToAct } from './channel.js'
import { tell, wordsOf } from './state.js'

const query = signal('select tool, calls, errors, p50_ms, p99_ms from tools order by calls desc')
const answer = signal<SqlAnswer | undefined>(undefined)
const fault = signal('')
/** Cancels the running query; undefined while none runs. */
const running = signal<AbortController | undefined>(undefined)
export const sqlOpen = signal(false)

/** Longer values are cut; the CSV has them in full. */
const mostCharacters = 300

/** A query over all recordings, and the resulting rows. */
export function SqlPanel() {
  const found = answer.value
  return (
    <section class="sql" aria-label="SQL">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void run()
        }}
      >
        <textarea
          aria-label="SQL query over all recordings"
          class="act-text"
          rows={4}
          spellcheck={false}
          value={query.value}
          onInput={(event) => (query.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
              event.preventDefault()
              void run()
            }
            // Keys typed here are not shortcuts of the page.
            event.stopPropagation()
          }}
        />
        <div class="sql-actions">
          {running.value ? (
            <button type="button" class="button" onClick={() => running.value?.abort()}>
              Stop
            </button>
          ) : (
            <button type="submit" class="button primary" title="Ctrl+Enter">
              Run
            </button>
          )}
          <button type="button" class="button" disabled={!found} onClick={() => void copyCsv()}>
            Copy as CSV
          </button>
          <span class="quiet" role="status">
            {running.value ? 'Running…' : found ? countedRows(found) : viewNames}
          </span>
        </div>
      </form>
      {fault.value !== '' && (
        <p class="failure" role="alert">
          {clean(fault.value)}
        </p>
      )}
      {found && found.columns.length > 0 && <Rows {...found} />}
    </section>
  )
}

const viewNames =
  'Views: messages, exchanges, sessions, tools, findings, others; "describe tools" lists columns.'

function countedRows({ rows, isCut }: SqlAnswer): string {
  return `${countOf(rows.length, 'row')}${isCut ? ' shown; there are more' : ''}`
}

function Rows({ columns, rows }: SqlAnswer) {
  const hasLinks = rows.some(({ message }) => message !== undefined)
  return (
    <div class="sql-rows" role="region" aria-label="Rows" tabIndex={0}>
      <table class="grid">
        <thead>
          <tr>
            {hasLinks && <th>message</th>}
            {columns.map(({ name, isNumber }, i) => (
              <th key={i} class={isNumber ? 'number' : ''}>
                {clean(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ values, message }, i) => (
            <tr key={i}>
              {hasLinks && (
                <td>
                  {message && (
                    <a href={`./?open=${message.id}#messages=all&seq=${message.seq}`}>#{message.seq}</a>
                  )}
                </td>
              )}
              {values.map((value, column) => (
                <td key={column} class={columns[column]!.isNumber ? 'number' : ''}>
                  {value === null ? <span class="quiet">null</span> : shown(value)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function shown(value: string): string {
  return clean(value.length > mostCharacters ? `${value.slice(0, mostCharacters)}…` : value)
}

async function run(): Promise<void> {
  if (running.value || query.value.trim() === '') return
  const mine = new AbortController()
  running.value = mine
  fault.value = ''
  try {
    answer.value = (await askToAct('./api/sql', { query: query.value }, mine.signal)) as SqlAnswer
  } catch (error) {
    answer.value = undefined
    fault.value = mine.signal.aborted ? 'The query was stopped.' : wordsOf(error)
  } finally {
    running.value = undefined
  }
}

async function copyCsv(): Promise<void> {
  try {
    await navigator.clipboard.writeText(answer.value!.csv)
    tell('Copied as CSV.')
  } catch (error) {
    tell(`Cannot copy: ${wordsOf(error)}`, 'bad')
  }
}
