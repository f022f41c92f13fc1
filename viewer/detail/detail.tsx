import { useEffect, useState } from 'preact/hooks'
import { formatBytes } from '../../src/render/index.js'
import { askedMeanwhile, headOf, membersOf } from '../store/exchange.js'
import { reader } from '../store/actions.js'
import { detailTab, grouped, selected, table, version, view } from '../store/state.js'
import type { Detail } from '../worker/protocol.js'
import { nameOf } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { Icon } from '../shell/icons.js'
import { CopyMenu } from './copy.js'
import { Facts } from './facts.js'
import { Message } from './message.js'
import { Steps } from './steps.js'
import { Later } from '../shell/views.js'

/** The selection in the list: an exchange with both sides, or one message. */
export function DetailPane() {
  const row = selected.value
  if (row < 0 || row >= table.length) {
    return (
      <aside class="detail quiet-pane" aria-label="Details">
        <p class="empty">
          <span>
            Select a message, or press <kbd>j</kbd>.
          </span>
        </p>
      </aside>
    )
  }
  return <Chosen key={row} row={row} />
}

function Chosen({ row }: { readonly row: number }) {
  version.value
  const isHead = grouped.value && headOf(row) === row
  const answer = isHead && table.kind(row) === 'request' ? table.peer(row) : -1
  const hasStory = table.kind(row) === 'request'
  const isStory = hasStory && detailTab.value === 'story'
  const [search, setSearch] = useState('')
  const { name, subject } = nameOf(row)
  const rows = answer >= 0 ? [row, answer] : [row]
  const related = isHead
    ? [...membersOf(row), ...askedMeanwhile(row)].filter((other) => other !== answer)
    : []
  return (
    <aside class="detail" aria-label="Details">
      <header class="detail-head">
        <button type="button" class="button small back" onClick={() => (selected.value = -1)}>
          <Icon name="back" /> {view.value === 'sequence' ? 'Sequence' : 'Messages'}
        </button>
        <h2>
          <span class="method">{clean(name)}</span>{' '}
          {subject !== '' && <span class="subject">{clean(subject)}</span>}
        </h2>
        <div class="detail-tools">
          {!isStory && (
            <label class="field small">
              <Icon name="search" />
              <input
                type="search"
                placeholder="Find"
                aria-label="Find in this message"
                data-find="detail"
                value={search}
                onInput={({ currentTarget }) => setSearch(currentTarget.value)}
              />
            </label>
          )}
          <CopyMenu row={row} />
          <button
            type="button"
            class="bare close"
            aria-label="Hide the details"
            title="Hide (Esc)"
            onClick={() => (selected.value = -1)}
          >
            <Icon name="close" />
          </button>
        </div>
        <Facts row={row} />
        {hasStory && (
          <div class="detail-tabs" role="group" aria-label="Exchange view">
            {(['messages', 'story'] as const).map((tab) => (
              <button
                key={tab}
                type="button"
                aria-pressed={detailTab.value === tab}
                onClick={() => (detailTab.value = tab)}
              >
                {tab === 'messages' ? 'Payload' : 'Story'}
              </button>
            ))}
          </div>
        )}
      </header>
      <div class="detail-body" tabIndex={0} role="region" aria-label="Payload">
        {isStory && <Later part="StoryView" of={{ row }} />}
        {!isStory && related.length > 0 && (
          <Steps rows={[row, ...related, ...(answer >= 0 ? [answer] : [])]} current={row} />
        )}
        {!isStory &&
          [...related.filter((one) => table.kind(one) === 'note'), ...rows].map((one) => (
            <Loaded key={one} row={one} search={search} />
          ))}
      </div>
    </aside>
  )
}

type Loading =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly message: string }
  | { readonly state: 'done'; readonly detail: Detail }

function Loaded({ row, search }: { readonly row: number; readonly search: string }) {
  const [loading, setLoading] = useState<Loading>({ state: 'loading' })
  const [whole, setWhole] = useState(false)
  version.value
  // When a held message is forwarded, a second line has more details.
  const isOver = !table.has(row, 'waiting')
  useEffect(() => {
    let gone = false
    reader()
      .detail(row, whole)
      .then(
        (detail) => !gone && setLoading({ state: 'done', detail }),
        (error: unknown) =>
          !gone &&
          setLoading({ state: 'failed', message: error instanceof Error ? error.message : String(error) }),
      )
    return () => {
      gone = true
    }
  }, [row, whole, isOver])
  if (loading.state === 'loading') return <div class="message loading" aria-busy="true" />
  if (loading.state === 'failed') return <p class="failure">{loading.message}</p>
  const { detail } = loading
  if (detail.leftOut !== undefined) {
    return (
      <div class="message large">
        <p>This message is large: {formatBytes(detail.leftOut)}.</p>
        <button type="button" class="button" onClick={() => setWhole(true)}>
          Show message
        </button>
      </div>
    )
  }
  return <Message detail={detail} search={search} />
}
