import { detach, type Fold, type NoteRecord, type TapeRecord } from '../model/index.js'

/** A person's note on a recording, with its message. */
export interface RecordedNote {
  readonly t: string
  readonly text: string
  /** Number of its message, or else of the previous message. */
  readonly sequence?: number
  readonly place: 'on' | 'after'
  /** Whether a restart wrote the note. */
  readonly isRestart: boolean
}

/** The notes of a recording; of very many only the first. */
export interface Notes {
  readonly list: readonly RecordedNote[]
  readonly count: number
}

const mostNotes = 1_000
const longestNote = 10_000

/** Takes records in file order, each after the fold. */
export function createNotes(fold: Fold): Notes & { see(record: TapeRecord): void } {
  const { entries } = fold
  const list: RecordedNote[] = []
  let count = 0

  function sequenceOf({ about }: NoteRecord): Pick<RecordedNote, 'place' | 'sequence'> {
    const row = about === undefined ? -1 : fold.rowOf(about)
    if (row >= 0) return { place: 'on', sequence: entries.seq(row) }
    for (let last = entries.length - 1; last >= 0; last -= 1) {
      if (entries.seq(last) >= 0) return { place: 'after', sequence: entries.seq(last) }
    }
    return { place: 'after' }
  }

  return {
    list,
    get count() {
      return count
    },
    see(record) {
      if (record.type !== 'note') return
      count += 1
      if (list.length >= mostNotes) return
      const { t, text, restart } = record
      const isRestart = restart !== undefined
      list.push({ t: detach(t), text: detach(text.slice(0, longestNote)), isRestart, ...sequenceOf(record) })
    },
  }
}

/** Notes for reports; see `notes` in docs/schemas/inspect.schema.json. */
export function notesJson({ list }: Notes): object[] {
  return list.map(({ t, text, place, isRestart, sequence = null }) => ({
    timestamp: t,
    text,
    about: place === 'on' ? sequence : null,
    after: place === 'after' ? sequence : null,
    restart: isRestart,
  }))
}
