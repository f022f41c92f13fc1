import { nameOf, statusText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { Arrow } from '../shell/icons.js'
import { select } from '../store/actions.js'
import { table } from '../store/state.js'
import { formatDuration } from '../../src/render/index.js'

/** All rows of an exchange in order, each with its time since the request. */
export function Steps({ rows, current }: { readonly rows: readonly number[]; readonly current: number }) {
  const sorted = [...rows].toSorted((a, b) => table.at(a) - table.at(b) || a - b)
  const shown = sorted.length > 60 ? [...sorted.slice(0, 58), ...sorted.slice(-1)] : sorted
  return (
    <ol class="steps">
      {shown.map((row) => {
        const { name, subject } = nameOf(row)
        return (
          <li key={row} class={table.has(row, 'fromServer') ? 'from-server' : 'from-client'}>
            <button type="button" class="bare" aria-current={row === current} onClick={() => select(row)}>
              <span class="step-time">
                {table.at(row) === 0
                  ? '–'
                  : row === current
                    ? '0'
                    : `+${formatDuration(Math.max(0, table.at(row) - table.at(current)))}`}
              </span>
              {table.kind(row) === 'note' || table.kind(row) === 'http' ? (
                <span />
              ) : (
                <Arrow left={table.has(row, 'fromServer')} />
              )}
              <span class="step-name">
                {table.kind(row) === 'http' ? `HTTP ${clean(statusText(row).text)}` : clean(name)}{' '}
                {row !== current && (table.kind(row) === 'request' || table.kind(row) === 'note') && (
                  <em>{clean(subject)}</em>
                )}
              </span>
            </button>
          </li>
        )
      })}
      {shown.length < sorted.length && (
        <li class="quiet">… {sorted.length - shown.length} more in the list</li>
      )}
    </ol>
  )
}
