import { isFrameRecord } from '../../src/model/index.js'
import type { Detail } from '../worker/protocol.js'
import { door } from './door.js'
import { FormBox } from './form-box.js'
import { TextForm, tried } from './held-forms.js'

export interface Said {
  readonly message: string | undefined
  readonly text: string
  readonly conversation?: string | undefined
}

/** UUID, exact text and conversation of a row's message. */
export function saidBy({ record, part }: Detail): Said {
  if (!isFrameRecord(record)) return { message: undefined, text: '' }
  const { id, start, end } = record.parts[part]!
  return { message: id, text: record.raw.slice(start, end), conversation: record.conversation }
}

export function NoteForm({ row }: { readonly row: number }) {
  return (
    <FormBox title="Add note">
      <TextForm
        label="Note about this message"
        start=""
        verb="Add"
        rows={3}
        submit={async (written) => {
          const text = written.trim()
          if (text === '') return 'the note is empty'
          const { message } = saidBy(await door.detail(row))
          return tried({ type: 'annotate', text, ...(message !== undefined && { message }) })
        }}
      />
    </FormBox>
  )
}
