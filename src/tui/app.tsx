import type { ReactElement } from 'react'
import { frameOf, type Frame } from './frame.js'
import { Colours, Lines } from './lines.js'
import type { Signs } from './row-line.js'
import type { Context, ScreenState } from './state.js'

/** The screen of a capture: a picture of its state, and nothing else. */
export function App({
  state,
  context,
  signs,
  colours,
}: {
  readonly state: ScreenState
  readonly context: Context
  readonly signs: Signs
  readonly colours: boolean
}): ReactElement {
  return <Picture frame={frameOf(state, context, signs)} colours={colours} />
}

export function Picture({
  frame,
  colours,
}: {
  readonly frame: Frame
  readonly colours: boolean
}): ReactElement {
  return (
    <Colours.Provider value={colours}>
      <Lines lines={frame.lines} height={frame.lines.length} selected={frame.selected} />
    </Colours.Provider>
  )
}
