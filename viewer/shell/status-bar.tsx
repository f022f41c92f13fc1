import { countOf, formatBytes, formatDuration } from '../../src/render/index.js'
import { shown } from '../store/shown.js'
import { dialog, grouped, lane, lanes, table, version } from '../store/state.js'
import { clean } from './clean.js'

/** One line at the bottom: what is shown, what the recording is, what is wrong with it. */
export function StatusBar() {
  version.value
  const all = lanes.value.filter(Boolean)
  const one = all.length === 1 ? all[0]! : all.find(({ index }) => index === lane.value)
  const busy = all.filter(({ state }) => state === 'reading')
  const problems = all.reduce((sum, { problemCount, failure }) => sum + problemCount + (failure ? 1 : 0), 0)
  const session = one?.sessions.at(-1)
  return (
    <footer class="status-bar">
      <span>
        {countOf(shown.value.length, grouped.value ? 'row' : 'message')} of {countOf(table.length, 'message')}
      </span>
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
      {session && session.redaction === 'none' && <span class="warn-words">not redacted</span>}
      {problems > 0 && (
        <button type="button" class="bare warn-words" onClick={() => (dialog.value = 'problems')}>
          {countOf(problems, 'problem')}
        </button>
      )}
    </footer>
  )
}

function sum<K extends string>(list: readonly Record<K, number>[], key: K): number {
  return list.reduce((total, one) => total + one[key], 0)
}

function Progress({ done, all }: { readonly done: number; readonly all: number }) {
  return (
    <span class="progress-words">
      <progress value={done} max={Math.max(1, all)} aria-label="Reading" /> {formatBytes(done)} of{' '}
      {formatBytes(all)}
    </span>
  )
}
