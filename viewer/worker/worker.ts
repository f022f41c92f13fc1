import type { ReportPage } from '../../src/formats/index.js'
import { WiretapeError } from '../../src/model/index.js'
import { compareLanes, type ComparedLane } from './compare.js'
import { sentencesOf } from './explain.js'
import { contentRanks } from './content-order.js'
import { exportLane } from './export.js'
import { Library, failureOf } from './library.js'
import { createLibraryFindings, type LibraryFindings } from './lane-findings.js'
import type { LaneIndex } from './lane.js'
import type { FromWorker, Opening, Slot, ToWorker } from './protocol.js'
import { Search } from './search.js'
import { storyOf } from './story.js'
import { toolUseOf } from './tool.js'
import { offersOf, shownIn, usageOf, type Shown } from './tools.js'

/** Lets pending requests of the page run. */
const nextTurn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0))

type Method = (args: readonly unknown[], progress: (value: unknown) => void) => Promise<unknown>

type Searches = Readonly<Record<Slot, Search>>

interface WorkerScope {
  postMessage(message: unknown, transfer: Transferable[]): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}

/** The worker's side: reads recordings and responds to requests about them. */
export function startWorker(scope: WorkerScope): void {
  const tell = (message: FromWorker, transfer: Transferable[] = []): void =>
    scope.postMessage(message, transfer)
  const library = new Library(tell)
  const findings = createLibraryFindings()

  const searches: Searches = {
    filter: new Search('filter', library, findings, tell),
    highlight: new Search('highlight', library, findings, tell),
  }
  library.onRows = (changed) => {
    searches.filter.more(changed)
    searches.highlight.more(changed)
  }

  const methods = methodsOf(library, findings, searches)
  scope.onmessage = ({ data: { id, method, args } }) => {
    const run = methods[method]
    if (!run) throw new Error(`no method ${method}`)
    run(args, (value) => tell({ type: 'progress', id, value })).then(
      (value) => tell({ type: 'answer', id, value }),
      (error: unknown) => tell({ type: 'failure', id, ...failureOf(error) }),
    )
  }
}

/** The requests that the page may send. */
function methodsOf(
  library: Library,
  findings: LibraryFindings,
  searches: Searches,
): Readonly<Record<string, Method>> {
  function laneAt(index: number): LaneIndex {
    const lane = library.lanes[index]
    if (!lane) throw new WiretapeError('usage', `there is no recording ${index}`)
    return lane
  }

  /** Number of comparisons begun; only the latest one is finished. */
  let comparisons = 0

  const shownOf = (lane: LaneIndex, range: unknown): Shown =>
    shownIn(lane, searches.filter.has, range as readonly [number, number] | undefined)

  return {
    usage: async ([range]) => library.lanes.map((lane) => usageOf(lane, shownOf(lane, range))),
    tool: async ([index, name, range]) => {
      const lane = laneAt(index as number)
      return toolUseOf(lane, name as string, shownOf(lane, range), async (rows) => {
        const contents = await library.contents(rows.map((row) => lane.globalOf(row)))
        return contents.map(({ text }) => text)
      })
    },
    offers: () => offersOf(library.lanes),
    findings: () => findings.list(library.lanes, nextTurn),
    costs: ([only, range]) =>
      findings.costs(library.lanes, nextTurn, (lane) =>
        only === 'all' || only === lane.index ? shownOf(lane, range) : undefined,
      ),
    compare: ([before, after, range], progress) => {
      const sideOf = (lane: LaneIndex): ComparedLane => ({ lane, shown: shownOf(lane, range) })
      comparisons += 1
      const mine = comparisons
      return compareLanes(
        sideOf(laneAt(before as number)),
        sideOf(laneAt(after as number)),
        progress,
        () => mine === comparisons,
      )
    },
    export: ([index, format, page]) =>
      exportLane(laneAt(index as number), format as string, page as ReportPage | undefined),
    open: ([openings]) => library.open(openings as Opening[]),
    search: async ([slot, text]) => searches[slot as Slot].set(text as string),
    response: ([row, exchange]) => library.response(row as number, exchange as number),
    contents: ([rows]) => library.contents(rows as number[]),
    contentRanks: () => contentRanks(library, nextTurn),
    story: async ([row, share]) => {
      const { lane, local } = library.locate(row as number)
      return storyOf(lane, local, (one) => library.detail(lane.globalOf(one), false), share as number)
    },
    explain: async ([row]) => {
      const { lane, local } = library.locate(row as number)
      return sentencesOf(lane, local, nextTurn)
    },
    detail: ([row, whole]) => library.detail(row as number, whole === true),
  }
}
