import { render } from 'preact'
import { shared } from 'shared-by-page'
import { App } from './shell/app.js'
import { begin, whenReady } from './shell/begin.js'
import { startWorker } from './worker/worker.js'
import './styles/viewer.css'

// The page and its worker run the same script; a worker has no document.
if (typeof document === 'undefined') {
  startWorker(globalThis as unknown as Parameters<typeof startWorker>[0])
} else {
  Object.assign(globalThis, { wiretapeShared: shared })
  whenReady(() => {
    begin()
    render(<App />, document.querySelector('#app')!)
  })
}
