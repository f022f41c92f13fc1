import { endsInIdName, isIdName } from '../compare/index.js'
import { createRecent, detach } from '../model/index.js'

/**
 * Numbers and short strings that only their place shows to be ids: `{"pid": 4711}`, `Note #7`, and `{"noteId": 7}` in
 * an argument.
 */
export interface NamedValues {
  /** Pairs the recorded and the live value of one place. @param name of the member */
  learn(name: string | undefined, before: string, after: string): void
  /** The live value for a value sent by the client, if a response contained the recorded one. */
  liveOf(name: string, value: string): string | undefined
}

const mostRemembered = 20_000
const longestText = 100_000
const between = /([\s"'`()<>[\]{},;|*=:#]+)/

export function createNamedValues(): NamedValues {
  const live = createRecent<string>({ entries: mostRemembered })
  /** Values that the client sent before any response contained them: its own. */
  const own = createRecent<true>({ entries: mostRemembered })

  function learnWords(before: string, after: string): void {
    if (before.length > longestText || after.length > longestText) return
    const [old, now] = [before.split(between), after.split(between)]
    if (old.length !== now.length) return
    let lead = ''
    for (const [i, word] of old.entries()) {
      const [value, other] = [word, now[i]!].map((one) => one.replace(/[.!?]+$/, '')) as [string, string]
      if (value !== other && isNumber(value) && isNumber(other) && endsInIdName(lead)) remember(value, other)
      lead = (lead + word).slice(-60)
    }
  }

  function remember(before: string, after: string): void {
    if (own.get(before) === undefined) live.set(detach(before), detach(after))
  }

  return {
    learn(name, before, after) {
      const isShort = /^[\w-]{1,12}$/.test(before) && /^[\w-]{1,12}$/.test(after)
      if (name !== undefined && isIdName(name) && isShort) remember(before, after)
      else learnWords(before, after)
    },
    liveOf(name, value) {
      if (!isIdName(name)) return undefined
      const found = live.get(value)
      if (found === undefined) own.set(detach(value), true)
      else live.set(detach(value), found)
      return found
    },
  }
}

function isNumber(text: string): boolean {
  return /^\d{1,19}$/.test(text)
}
