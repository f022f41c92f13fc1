import { useEffect, useState } from 'preact/hooks'
import { DetailPane } from '../detail/detail.js'
import { List, NothingOpened } from '../list/list.js'
import { RowMenu } from '../list/row-menu.js'
import { openFiles } from '../store/actions.js'
import { crashed, dialog, lanes, opening, selected, table, version, view } from '../store/state.js'
import { laneName } from '../store/lane-name.js'
import type { Lane } from '../worker/protocol.js'
import { Timeline } from '../timeline/timeline.js'
import { Dialogs } from './dialogs.js'
import { FilterBar } from '../filter/filter-bar.js'
import { Reels } from './icons.js'
import { Landing } from './landing.js'
import { mode } from './mode.js'
import { Notice } from './notice.js'
import { Splitter } from './splitter.js'
import { StatusBar } from './status-bar.js'
import { TopBar } from './top-bar.js'
import { Troubles } from './troubles.js'
import { Later } from './views.js'
import { useKeys } from './keys.js'
import { clean } from './clean.js'
import { failureText } from './failure.js'
import { DropArea } from './drop-area.js'

/** The whole page. */
export function App() {
  useKeys()
  version.value
  const some = lanes.value.length > 0
  useEffect(() => {
    document.title = titleOf(lanes.value)
  }, [lanes.value])
  const failed = some && table.length === 0 && lanes.value.every(({ state }) => state === 'failed')
  return (
    <DropArea onFiles={(files) => void openFiles(files)}>
      <div class={`app ${some ? (failed ? 'is-failed' : '') : 'is-empty'}`}>
        <div>
          <TopBar />
          {/* Filled by the acting script, which only wiretape ui serves. */}
          {mode === 'ui' && <div id="acting" />}
          {crashed.value !== undefined && (
            <p class="banner bad" role="alert">
              The reader stopped: {crashed.value}. Reload the page to try again.
            </p>
          )}
          {lanes.value.map(
            (one) =>
              one.failure &&
              one.bytesRead > 0 && (
                <p key={one.index} class="banner bad" role="alert">
                  {failureText(one.failure)}
                </p>
              ),
          )}
          {some && <Troubles />}
        </div>
        {failed ? <Failed /> : some ? <Work /> : opening.value.length > 0 ? <Opening /> : <Landing />}
        {some && <StatusBar />}
        <RowMenu />
        <Dialogs />
        {/* A modal dialog covers the page and has its own notice. */}
        {dialog.value === undefined && <Notice />}
      </div>
    </DropArea>
  )
}

/** Distinguishes browser tabs. */
function titleOf(all: readonly Lane[]): string {
  if (!all[0]) return 'wiretape'
  const more = all.length > 1 ? ` and ${all.length - 1} more` : ''
  return `${clean(laneName(all[0]))}${more} · wiretape`
}

/** The recording has not arrived yet. */
function Opening() {
  const [isLate, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 2_000)
    return () => clearTimeout(timer)
  }, [])
  return (
    <main class="landing">
      <div class="landing-card" aria-busy="true">
        <Reels />
        <h1>Opening</h1>
        {opening.value.slice(0, 20).map((name, i) => (
          <p key={i}>{clean(name)}</p>
        ))}
        <p class="quiet" role="status">
          {isLate ? 'Still waiting for the first bytes of the recording.' : ''}
        </p>
      </div>
    </main>
  )
}

/** Shown if no recording could be read. */
function Failed() {
  return (
    <main class="work">
      <section class="list" aria-label="Messages">
        <NothingOpened />
      </section>
    </main>
  )
}

const pages = {
  sequence: 'SequencePage',
  tools: 'ToolsPage',
  findings: 'FindingsPage',
  cost: 'CostPage',
  compare: 'ComparePage',
} as const

function Work() {
  return (
    <>
      <FilterBar />
      <Timeline />
      <main class="work">
        {view.value === 'messages' && (
          <Splitter
            name="detail"
            showsSecond={selected.value >= 0}
            first={<List />}
            second={<DetailPane />}
          />
        )}
        {view.value !== 'messages' && <Later part={pages[view.value]} of={{}} />}
      </main>
    </>
  )
}
