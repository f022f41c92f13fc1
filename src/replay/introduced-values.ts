import { endsInIdName, isIdName } from '../compare/index.js'
import { createRecent, detach } from '../model/index.js'

/** Values introduced only by responses to left-out requests. A message that contains one cannot be sent either. */
export interface IntroducedValues {
  /** The client sent a message. @param text exact JSON of the message */
  sent(text: string): void
  /** The server sent a message. @param text exact JSON of the message */
  said(text: string): void
  /** The server sent a message because of a left-out one. @param seq number of the left-out message */
  lost(text: string, seq: number): void
  /** Number of the left-out message whose response a message of the client needs. */
  neededBy(text: string): number | undefined
}

const mostRemembered = 200_000
const longestMade = 4096
const longestText = 100_000
const between = /([\s"'`()<>[\]{},;|*=:#]+)/
/** Members of `params` whose values always come from the server. */
const givenBack: ReadonlySet<string> = new Set(['cursor', 'requestState', 'taskId', 'progressToken'])

type Form = 'whole' | 'made' | 'named'

export function createIntroducedValues(): IntroducedValues {
  const known = createRecent<true>({ entries: mostRemembered })
  const lost = createRecent<number>({ entries: mostRemembered })

  function know(text: string): void {
    eachForm(text, (form, value) => known.set(detach(`${form} ${value}`), true))
  }

  return {
    sent: know,
    said: know,
    lost(text, seq) {
      eachForm(text, (form, value) => lost.set(detach(`${form} ${value}`), seq))
    },
    neededBy(text) {
      const find = (form: Form, value: string): number | undefined => {
        const key = `${form} ${value}`
        return known.get(key) === undefined ? lost.get(key) : undefined
      }
      let needed: number | undefined
      eachLeaf(paramsOf(text), '', (value, name, depth) => {
        needed ??= looksMade(value) ? find('made', value) : undefined
        if (depth === 1 && givenBack.has(name)) needed ??= find('whole', value)
        if (depth > 1 && isIdName(name) && isShort(value)) needed ??= find('named', value)
      })
      return needed
    },
  }
}

function eachForm(text: string, take: (form: Form, value: string) => void): void {
  eachLeaf(parsed(text), '', (value, name) => {
    if (value.length <= longestMade) take('whole', value)
    if (looksMade(value)) take('made', value)
    if (isShort(value) && isIdName(name)) take('named', value)
    if (value.length > longestText) return
    let lead = ''
    for (const part of value.split(between)) {
      const word = part.replace(/[.!?]+$/, '')
      if (looksMade(word)) take('made', word)
      if (isShort(word) && endsInIdName(lead)) take('named', word)
      lead = (lead + part).slice(-60)
    }
  })
}

/** @param take gets strings, and numbers as texts; `depth` is 1 for a member of the root */
function eachLeaf(
  whole: unknown,
  name: string,
  take: (value: string, name: string, depth: number) => void,
): void {
  const open: { value: unknown; name: string; depth: number }[] = [{ value: whole, name, depth: 0 }]
  for (let at = open.pop(); at; at = open.pop()) {
    const { value, depth } = at
    if (typeof value === 'string' || typeof value === 'number') take(String(value), at.name, depth)
    else if (Array.isArray(value))
      for (const item of value as unknown[]) open.push({ value: item, name: at.name, depth: depth + 1 })
    else if (typeof value === 'object' && value !== null)
      for (const [key, item] of Object.entries(value)) open.push({ value: item, name: key, depth: depth + 1 })
  }
}

function paramsOf(text: string): unknown {
  return (parsed(text) as { params?: unknown } | null | undefined)?.params
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** As in `live-values.ts`. */
function looksMade(value: string): boolean {
  return value.length >= 8 && value.length <= longestMade && /\d/.test(value) && !/\s/.test(value)
}

function isShort(value: string): boolean {
  return /^[\w-]{1,12}$/.test(value) && /\d/.test(value)
}
