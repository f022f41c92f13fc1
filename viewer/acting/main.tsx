import { render } from 'preact'
import '../styles/acting.css'
import { Acting, Offers } from './bar.js'
import { door } from './door.js'
import { benchOpen, tab } from './bench.js'
import { Home } from './home.js'
import { findPlace } from './place.js'
import { rowActions } from './row-actions.js'
import { findSession, session } from './session.js'
import { takeRemembered, wanted } from './wanted.js'

// Only `wiretape ui` serves this script. The page contains placeholder elements for it.
const place = document.querySelector('#acting')
if (place) {
  const style = document.createElement('link')
  style.rel = 'stylesheet'
  style.href = './acting.css'
  document.head.append(style)
  door.rowActions.value = rowActions
  findSession()
  void findPlace()
  session.subscribe((found) => {
    if (!takeRemembered(found?.recording)) return
    if (wanted.value) tab.value = wanted.value.tab
    benchOpen.value = true
  })
  render(<Acting />, place)
  render(<Offers />, document.querySelector('#acting-offers')!)
  let home: HTMLElement | null = null
  door.home.subscribe((element) => {
    // A rendered tree stays active until it is unmounted.
    if (home) render(null, home)
    home = element
    if (home) render(<Home />, home)
  })
}
