import { formatCount } from '../../src/render/index.js'
import { chooseFiles } from '../store/actions.js'
import { dialog, follow, lane, lanes, live, table, theme, version, view, type View } from '../store/state.js'
import { findings, suppressed } from '../store/findings.js'
import { laneName } from '../store/lane-name.js'
import { clean } from './clean.js'
import { Icon, Reels } from './icons.js'
import { mode } from './mode.js'
import { isDark } from './theme.js'

const views: readonly { readonly id: View; readonly name: string; readonly key: string }[] = [
  { id: 'messages', name: 'Messages', key: '1' },
  { id: 'sequence', name: 'Sequence', key: '2' },
  { id: 'tools', name: 'Tools', key: '3' },
  { id: 'compare', name: 'Compare', key: '4' },
  { id: 'findings', name: 'Findings', key: '5' },
  { id: 'cost', name: 'Cost', key: '6' },
]

export function TopBar() {
  version.value
  const some = lanes.value.length > 0
  // Without an open recording, the page has a heading elsewhere.
  const Brand = some ? 'h1' : 'span'
  return (
    <header class="top-bar">
      <Brand class="brand">
        {mode === 'ui' && some ? (
          <a href="./?home" title="All recordings">
            <Reels />
            wiretape
          </a>
        ) : (
          <>
            <Reels />
            wiretape
          </>
        )}
      </Brand>
      {some && <Lanes />}
      {some && mode === 'ui' && (
        <a class="button small close" href="./?home" title="Close and show all recordings">
          <Icon name="close" /> <span class="word">Close</span>
        </a>
      )}
      <span class="grow" />
      {some && (
        <nav class="views" aria-label="Views">
          {views.map(({ id, name, key }) =>
            id === 'compare' && lanes.value.length < 2 ? null : (
              <button
                key={id}
                type="button"
                aria-pressed={view.value === id}
                title={`${name} (${key})`}
                onClick={() => (view.value = id)}
              >
                {name}
                {id === 'findings' && <FindingCount />}
              </button>
            ),
          )}
        </nav>
      )}
      {/* Filled by the acting script, which only wiretape ui serves. */}
      {mode === 'ui' && <span id="acting-offers" />}
      {live.value && (
        <button
          type="button"
          class={`button small ${follow.value ? 'on' : ''}`}
          aria-pressed={follow.value}
          title="Scroll to new messages (f)"
          onClick={() => (follow.value = !follow.value)}
        >
          <i class="live-dot" /> <span class="word">Follow</span>
        </button>
      )}
      <span class="tools">
        {mode !== 'report' && <Tool name="open" label="Open files (o)" onClick={chooseFiles} />}
        {some && <Tool name="down" label="Export" onClick={() => (dialog.value = 'export')} />}
        <Tool name="command" label="Commands (Ctrl+K)" onClick={() => (dialog.value = 'palette')} />
        <Tool
          name={isDark.value ? 'sun' : 'moon'}
          label={isDark.value ? 'Light theme' : 'Dark theme'}
          onClick={() => (theme.value = isDark.value ? 'light' : 'dark')}
        />
        <Tool name="help" label="Keyboard shortcuts (?)" onClick={() => (dialog.value = 'help')} />
      </span>
    </header>
  )
}

/** Number of errors and warnings, once rules have run. */
function FindingCount() {
  const grave = (findings.value?.findings ?? []).filter(
    ({ level, hash }) => level !== 'note' && !suppressed.value.has(hash),
  )
  return grave.length === 0 ? null : <span class="bad-count"> {formatCount(grave.length)}</span>
}

function Tool(props: {
  readonly name: Parameters<typeof Icon>[0]['name']
  readonly label: string
  readonly onClick: () => void
}) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={props.label}
      title={props.label}
      onClick={props.onClick}
    >
      <Icon name={props.name} />
    </button>
  )
}

/** A tab for each recording, and one for all of them. */
function Lanes() {
  const all = lanes.value.filter(Boolean)
  return (
    <div class="lanes" role="group" aria-label="Recordings">
      {all.length > 1 && (
        <button type="button" aria-pressed={lane.value === 'all'} onClick={() => (lane.value = 'all')}>
          All <span class="count">{formatCount(table.length)}</span>
        </button>
      )}
      {all.map((one) => (
        <button
          key={one.index}
          type="button"
          class={`lane-tab is-${one.state}`}
          aria-pressed={all.length > 1 ? lane.value === one.index : true}
          title={one.failure ? clean(one.failure.message) : clean(one.name)}
          onClick={() => {
            if (all.length === 1 || one.failure) dialog.value = 'session'
            else lane.value = one.index
          }}
        >
          <i class={`swatch lane-${one.index % 8}`} />
          <span class="lane-name">{clean(laneName(one))}</span>
          {one.state === 'following' && <i class="live-dot" title="recording" />}
          {one.state === 'failed' && <Icon name="warn" />}
        </button>
      ))}
    </div>
  )
}
