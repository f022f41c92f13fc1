import { detach } from '../../model/index.js'
import { createDurations, type Durations } from './durations.js'

export const groupings = ['tool', 'method', 'server', 'client', 'day'] as const
export type Grouping = (typeof groupings)[number]

/** Totals of a group of calls. */
export interface Group {
  /** Tool, method, server, client or day. */
  readonly name: string
  /** Of a tool or a method. */
  readonly server: string | null
  calls: number
  /** JSON-RPC errors and results of failed tools. */
  errors: number
  /** Excludes the time for which a person or a rule held the request, and `waitedUs`. */
  readonly durations: Durations
  /** Time for which servers waited for their clients before responding. */
  waitedUs: number
  /** Place of the slowest response. */
  slowest?: { readonly recording: string; readonly sequence: number; readonly us: number }
  requestBytes: number
  responseBytes: number
  /** Calls with the tool and arguments of an earlier failed or cancelled call in the session. */
  retries: number
  cancelled: number
  unanswered: number
}

/** Groups of calls, by server and name. */
export class Groups {
  readonly #byServer = new Map<string | null, Map<string, Group>>()
  readonly #all: Group[] = []

  list(): readonly Group[] {
    return this.#all
  }

  at(name: string, server: string | null): Group {
    const ofServer = this.#byServer.get(server)
    const known = ofServer?.get(name)
    if (known) return known
    const group: Group = {
      name: detach(name),
      server: server === null ? null : detach(server),
      calls: 0,
      errors: 0,
      durations: createDurations(),
      waitedUs: 0,
      requestBytes: 0,
      responseBytes: 0,
      retries: 0,
      cancelled: 0,
      unanswered: 0,
    }
    this.#all.push(group)
    if (ofServer) ofServer.set(group.name, group)
    else this.#byServer.set(group.server, new Map([[group.name, group]]))
    return group
  }
}
