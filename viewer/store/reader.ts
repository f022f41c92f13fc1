import type { Changes, Detail, FromWorker, Lane, Opening, Rows, ToWorker } from '../worker/protocol.js'

/** An error in the worker; the message is shown to the user. */
export class ReaderFailure extends Error {
  override readonly name = 'ReaderFailure'
  readonly hint: string | undefined
  constructor(message: string, hint: string | undefined) {
    super(message)
    this.hint = hint
  }
}

/** The page's interface to the worker. */
export interface Reader {
  open(openings: readonly Opening[]): Promise<void>
  detail(row: number, whole?: boolean): Promise<Detail>
  call<T>(method: string, args: readonly unknown[], progress?: (value: unknown) => void): Promise<T>
}

interface Waiting {
  readonly resolve: (value: never) => void
  readonly reject: (error: Error) => void
  readonly progress?: ((value: unknown) => void) | undefined
}

export function createReader(
  worker: Worker,
  on: {
    rows(rows: Rows, changes: Changes): void
    lanes(lanes: readonly Lane[]): void
    opening(names: readonly string[]): void
    matches(found: FromWorker & { type: 'matches' }): void
    crashed(message: string): void
  },
): Reader {
  const waiting = new Map<number, Waiting>()
  let last = 0

  worker.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
    switch (data.type) {
      case 'rows':
        on.rows(data.rows, data.changes)
        break
      case 'lanes':
        on.lanes(data.lanes)
        break
      case 'opening':
        on.opening(data.names)
        break
      case 'matches':
        on.matches(data)
        break
      case 'progress':
        waiting.get(data.id)?.progress?.(data.value)
        break
      case 'answer':
        waiting.get(data.id)?.resolve(data.value as never)
        waiting.delete(data.id)
        break
      case 'failure':
        waiting.get(data.id)?.reject(new ReaderFailure(data.message, data.hint))
        waiting.delete(data.id)
        break
    }
  })
  worker.addEventListener('error', (event) => {
    on.crashed(event.message)
    for (const { reject } of waiting.values()) reject(new ReaderFailure(event.message, undefined))
    waiting.clear()
  })

  function call<T>(
    method: string,
    args: readonly unknown[],
    progress?: (value: unknown) => void,
  ): Promise<T> {
    last += 1
    const id = last
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, { resolve, reject, progress })
      worker.postMessage({ id, method, args } satisfies ToWorker)
    })
  }

  return {
    call,
    open: (openings) => call('open', [openings]),
    detail: (row, whole = false) => call('detail', [row, whole]),
  }
}
