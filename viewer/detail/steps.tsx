import { Fragment } from 'preact'
import { useState } from 'preact/hooks'
import { nameOf, statusText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { Arrow } from '../shell/icons.js'
import { More } from '../shell/more.js'
import { select } from '../store/actions.js'
import { table } from '../store/state.js'
import { formatDuration } from '../../src/render/index.js'

/** Steps shown at first, and those added by each request. */
const firstSteps = 60
const moreSteps = 500

/** All rows of an exchange in order, each with its time since the request. */
export function Steps({ rows, current }: { readonly rows: readonly number[]; readonly current: number }) {
  const sorted = [...rows].toSorted((a, b) => table.at(a) - table.at(b) || a - b)
  const [limit, setLimit] = useState(firstSteps)
  // The last step is always shown: it is the response.
  const shown = sorted.length > limit ? [...sorted.slice(0, limit - 1), ...sorted.slice(-1)] : sorted
  const left = sorted.length - shown.length
  return (
    <ol class="steps">
      {shown.map((row, i) => {
        const { name, subject } = nameOf(row)
        return (
          <Fragment key={row}>
            {left > 0 && i === shown.length - 1 && (
              <li class="more-steps">
                <More left={left} step={moreSteps} noun="step" show={() => setLimit(limit + moreSteps)} />
              </li>
            )}
            <li class={table.has(row, 'fromServer') ? 'from-server' : 'from-client'}>
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
          </Fragment>
        )
      })}
    </ol>
  )
}
