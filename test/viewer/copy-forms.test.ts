import { describe, expect, it } from 'vitest'
import type { MessageRecord, Session } from '../../src/model/index.js'
import { curlOf, replayOf } from '../../viewer/copying/copy-forms.js'

describe('what is copied for a shell', () => {
  it('takes nothing of a recording for an option', () => {
    const record = {
      type: 'message',
      direction: 'client_to_server',
      http: {
        exchange: 0,
        headers: [
          ['@/etc/passwd', 'x'],
          ['x-one', "it's"],
        ],
      },
    } as unknown as MessageRecord
    expect(curlOf(record, '{}', '-K/tmp/x')).toBe(
      ['curl -sS -N --url -K/tmp/x', String.raw`-H 'x-one: it'\''s'`, "--data-raw '{}'"].join(' \\\n  '),
    )
    const session = { url: '-x', command: [] } as unknown as Session
    expect(replayOf('-a.jsonl', 3, session)).toBe('wiretape replay ./-a.jsonl --filter seq:3 --url=-x')
  })
})
