import { textOf } from '../copying/text.js'
import { ComparePage } from '../diff/compare.js'
import { CostPage } from '../findings/cost.js'
import { FindingsPage } from '../findings/findings.js'
import { Markdown } from '../reading/markdown.js'
import { Differences, Original } from '../reading/original.js'
import { SequencePage } from '../sequence/sequence.js'
import { StoryView } from '../story/story.js'
import { ToolsPage } from '../tools/tools.js'

const views = {
  ComparePage,
  CostPage,
  Differences,
  FindingsPage,
  Markdown,
  Original,
  SequencePage,
  StoryView,
  ToolsPage,
  textOf,
}

type Brought = typeof views

declare module '../shell/views.js' {
  interface Views extends Brought {}
}

Object.assign(globalThis, { wiretapeViews: views })
