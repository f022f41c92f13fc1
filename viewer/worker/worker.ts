import { createLibrary, failureOf } from './library.js'
import type { FromWorker, Opening, Slot, ToWorker } from './protocol.js'
import { createSearch, type Search } from './search.js'

interface WorkerScope {
  postMessage(message: unknown, transfer: Transferable[]): void
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null
}

/** The worker's end: reads recordings, answers questions about them. */
export function startWorker(scope: WorkerScope): void {
  const tell = (message: FromWorker, transfer: Transferable[] = []): void =>
    scope.postMessage(message, transfer)
  const library = createLibrary(tell)

  const searches: Readonly<Record<Slot, Search>> = {
    filter: createSearch('filter', library, tell),
    highlight: createSearch('highlight', library, tell),
  }
  library.onRows = (changed) => {
    searches.filter.more(changed)
    searches.highlight.more(changed)
  }

  const methods: Readonly<Record<string, (args: readonly unknown[]) => Promise<unknown>>> = {
    open: ([openings]) => library.open(openings as Opening[]),
    search: async ([slot, text]) => searches[slot as Slot].set(text as string),
    detail: ([row, whole]) => library.detail(row as number, whole === true),
  }

  scope.onmessage = ({ data: { id, method, args } }) => {
    const run = methods[method]
    if (!run) throw new Error(`no method ${method}`)
    run(args).then(
      (value) => tell({ type: 'answer', id, value }),
      (error: unknown) => tell({ type: 'failure', id, ...failureOf(error) }),
    )
  }
}
