import { MessageIds, type Relations } from '../model/index.js'
import { randomBytes } from '../tape/index.js'

/** The recorder's name of a message: a number where no id text was made, otherwise the id. */
export type Ref = number | string

/** Names the messages of a recorder by numbers. Their ids are made when they are needed. */
export class MessageRefs {
  readonly ids = new MessageIds(new Uint32Array(new Uint8Array(randomBytes(16)).buffer))
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
