import { render } from 'preact'
import { Acting } from './bar.js'
import { door } from './door.js'
import { Home } from './home.js'
import { followPage } from './state.js'

// Only `wiretape ui` serves this script. The page left places for it.
const place = document.querySelector('#acting')
if (place) {
  followPage()
  render(<Acting />, place)
  let home: HTMLElement | null = null
  door.home.subscribe((element) => {
    // What is drawn stays alive until it is told to go.
    if (home) render(null, home)
    home = element
    if (home) render(<Home />, home)
  })
}
