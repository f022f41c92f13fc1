import { countOf, formatBytes, formatDuration } from '../../src/render/index.js'
import type { Session } from '../../src/model/index.js'
import { shown } from '../store/shown.js'
import { dialog, faultyFilter, filterText, lane, lanes, table, version } from '../store/state.js'
import { clean } from './clean.js'

/** One line at the bottom: the rows shown, facts about the recording, and its problems. */
export function StatusBar() {
  version.value
  const all = lanes.value.filter(Boolean)
  const one = all.length === 1 ? all[0]! : all.find(({ index }) => index === lane.value)
  const busy = all.filter(({ state }) => state === 'reading')
  const problems = all.reduce((sum, { problemCount, failure }) => sum + problemCount + (failure ? 1 : 0), 0)
  const { rows, besides } = table.count(lane.value)
  const session = one?.sessions.at(-1)
  return (
    <footer class="status-bar">
      <span>
        {countOf(shown.value.length, 'row')} shown · {countOf(rows - besides, 'message')}
        {besides > 0 && (
          <span title="stderr, HTTP exchanges without a message, gaps, notes, text that is not JSON">
            , {countOf(besides, 'other entry', 'other entries')}
          </span>
        )}
      </span>
      {faultyFilter.value && (
        <span class="warn-words">
          {filterText.value === ''
            ? 'invalid filter: all rows are shown'
            : `invalid filter: the rows still match ${clean(filterText.value)}`}
        </span>
      )}
      {busy.length > 0 && <Progress done={sum(busy, 'bytesRead')} all={sum(busy, 'sizeBytes')} />}
      {session && (
        <button type="button" class="bare session-words" onClick={() => (dialog.value = 'session')}>
          {[
            session.server && `${session.server.name} ${session.server.version}`,
            session.client && `for ${session.client.name}`,
            session.protocolVersion,
            session.transport,
            session.durationMs !== undefined && formatDuration(session.durationMs * 1000),
          ]
            .filter((word) => typeof word === 'string')
            .map(clean)
            .join(' · ')}
        </button>
      )}
      <span class="grow" />
      {session && one && redactionOf(session, one.format) === 'none' && (
        <span class="warn-words">not redacted</span>
      )}
      {problems > 0 && (
        <button type="button" class="bare warn-words" onClick={() => (dialog.value = 'problems')}>
          {countOf(problems, 'problem')}
        </button>
      )}
    </footer>
  )
}

/** The recording's redaction; undefined for other formats and other recorders, which state none. */
export function redactionOf({ id, redaction }: Session, format: string): string | undefined {
  return format !== 'trace-v1' || /^session-\d+$/.test(id) ? undefined : redaction
}

function sum<K extends string>(list: readonly Record<K, number>[], key: K): number {
  return list.reduce((total, one) => total + one[key], 0)
}

function Progress({ done, all }: { readonly done: number; readonly all: number }) {
  // The sender may not state the total size.
  const isKnown = all > done
  return (
    <span class="progress-words">
      <progress {...(isKnown && { value: done })} max={Math.max(1, all)} aria-label="Reading" />{' '}
      {formatBytes(done)}
      {isKnown && ` of ${formatBytes(all)}`}
    </span>
  )
}
