import { render } from 'preact'
import '../styles/acting.css'
import { Acting, Offers } from './bar.js'
import { door } from './door.js'
import { benchOpen } from './bench.js'
import { Home } from './home.js'
import { findPlace } from './place.js'
import { findSession, session } from './session.js'
import { followPage } from './state.js'

// Only `wiretape ui` serves this script. The page left places for it.
const place = document.querySelector('#acting')
if (place) {
  const style = document.createElement('link')
  style.rel = 'stylesheet'
  style.href = './acting.css'
  document.head.append(style)
  followPage()
  findSession()
  void findPlace()
  session.subscribe((found) => {
    // It was just begun, by this page before it was loaded again.
    if (found?.recording !== sessionStorage.getItem('wiretape-bench')) return
    sessionStorage.removeItem('wiretape-bench')
    benchOpen.value = true
  })
  render(<Acting />, place)
  render(<Offers />, document.querySelector('#acting-offers')!)
  let home: HTMLElement | null = null
  door.home.subscribe((element) => {
    // What is drawn stays alive until it is told to go.
    if (home) render(null, home)
    home = element
    if (home) render(<Home />, home)
  })
}
