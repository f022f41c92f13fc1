import { JsonObject } from './json-object.js'
import { spliceText, type TextEdit } from './json-splice.js'
import { memberOf, membersOf } from './json-text.js'

/** Places of ids in a message for which several clients may choose the same value. */
export type IdPlace = 'id' | 'progressToken' | 'ownProgressToken' | 'cancels' | 'subscriptionId'

const subscription = 'io.modelcontextprotocol/subscriptionId'

/** The message with other ids at some places; every other character stays unchanged. */
export function withIds(text: string, ids: Partial<Record<IdPlace, string>>): string {
  const edits: TextEdit[] = []
  const put = (holder: number | undefined, name: string, id: string | undefined): void => {
    if (holder === undefined || id === undefined) return
    const member = memberOf(membersOf(text, holder), name)
    if (member) edits.push({ start: member.start, end: member.end, text: id })
  }
  const message = new JsonObject(text, 0)
  const params = message.object('params') && message.at('params')!.start
  const result = message.object('result') && message.at('result')!.start
  const metaIn = (name: 'params' | 'result'): number | undefined => {
    const holder = message.object(name)
    return holder?.object('_meta') && holder.at('_meta')!.start
  }
  put(0, 'id', ids.id)
  put(metaIn('params'), 'progressToken', ids.ownProgressToken)
  put(params, 'progressToken', ids.progressToken)
  put(params, 'requestId', ids.cancels)
  put(metaIn('params'), subscription, ids.subscriptionId)
  if (result !== undefined) put(metaIn('result'), subscription, ids.subscriptionId)
  return spliceText(
    text,
    edits.toSorted((a, b) => a.start - b.start),
  )
}
