import { randomInt } from 'node:crypto'
import { MessageIds, type Relations } from '../model/index.js'

/** The recorder's name of a message: a number where no id text was made, otherwise the id. */
export type Ref = number | string

/** Names the messages of a recorder by numbers. Their ids are made when they are needed. */
export class MessageRefs {
  readonly ids = new MessageIds(Uint32Array.from({ length: 4 }, () => randomInt(2 ** 32)))
  #next = 0

  next(): number {
    return this.#next++
  }

  idOf(ref: Ref): string {
    return typeof ref === 'string' ? ref : this.ids.textOf(ref)
  }

  /** The same relations with ids for a record. */
  withIds({ answers, late, duplicateOf, links }: Relations<Ref>): Relations<string> {
    return {
      ...(answers !== undefined && { answers: this.idOf(answers) }),
      ...(late && { late }),
      ...(duplicateOf !== undefined && { duplicateOf: this.idOf(duplicateOf) }),
      links: links.map(({ kind, to }) => ({ kind, to: this.idOf(to) })),
    }
  }
}
