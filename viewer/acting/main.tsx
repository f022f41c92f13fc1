import { render } from 'preact'
import { Acting } from './bar.js'
import { followPage } from './state.js'

// Only `wiretape ui` serves this script. The page left a place for it.
const place = document.querySelector('#acting')
if (place) {
  followPage()
  render(<Acting />, place)
}
