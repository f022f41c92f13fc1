import { detach } from '../../../model/index.js'
import type { Rule } from '../../finding.js'
import { at, listAt, stringsIn, type Json } from '../../json.js'
import { sources } from '../sources.js'
import { crossingOf, mostRemembered, ofRun, remember, type Crossing } from './crossings.js'

/** URLs, paths of two or more segments, long words with digits: values an attacker would plant. */
const telling =
  /https?:\/\/[^\s"'<>)\]}]{4,2000}|(?:~|\/[\w.-]{1,200})(?:\/[\w.-]{1,200}){1,40}|\b(?=[A-Za-z_-]{0,200}\d)[\w-]{20,200}\b/g

/** Limit per result or call. */
const mostValues = 500

function flowWords(value: string, from: Crossing, to: Crossing): string {
  return `${value.slice(0, 200)} in the arguments of ${to.tool} first appeared in a result of ${from.tool} of ${from.server || 'a server'}`
}

const bare = (match: string): string => match.replace(/[.,;:]+$/, '')

function tellingValues(value: Json | undefined, pointer: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const [text, place] of stringsIn(value, pointer)) {
    for (const [match] of text.matchAll(telling)) {
      found.set(bare(match), place)
      if (found.size >= mostValues) return found
    }
  }
  return found
}

export const executedFlow: Rule = {
  info: {
    id: 'safety/executed-flow',
    pack: 'safety',
    level: 'warning',
    certainty: 'strong',
    title: 'A value from an external source became an argument of a tool that changes or sends something.',
    help: 'The author of the page or mail chose it (an address, path or token). Read the result that it came from.',
    source: sources.owasp,
    owasp: 'MCP06',
  },
  begin(scope, say) {
    const { server } = scope
    const foreign = ofRun(scope, 'values from outside', () => new Map<string, Crossing>())
    const acted = ofRun(scope, 'values that were acted on', () => new Map<string, Crossing>())
    const known = ofRun(scope, 'values that were known', () => new Set<string>())
    const hint = (tool: string | undefined, name: string): Json | undefined =>
      tool === undefined ? undefined : at(server.offer('tool', tool)?.offer.value, 'annotations', name)
    const know = (value: string): void => {
      if (known.size < mostRemembered && !known.has(value)) known.add(detach(value))
    }
    let hasOutside = false
    return {
      message(message) {
        if (message.answers('tools/list'))
          hasOutside ||= listAt(message.result, 'tools').some(
            (tool) => at(tool, 'annotations', 'openWorldHint') === true,
          )
        const isCall = message.asks('tools/call')
        if (!isCall && !message.answers('tools/call')) return
        // No value has come from outside, and none can.
        if (!hasOutside && foreign.size === 0 && !isCall) return
        const { tool } = message
        const here = crossingOf(message, server)
        if (!isCall) {
          const isOutside = hint(tool, 'openWorldHint') === true
          for (const [value, pointer] of tellingValues(message.result, '/result')) {
            const to = isOutside ? acted.get(value) : undefined
            // The recording with the call was read before this one.
            if (to && to.server !== here.server && here.t <= to.t)
              say(message, {
                message: flowWords(value, here, to),
                at: pointer,
                what: `${to.server} ${to.tool}`,
              })
            if (isOutside && !known.has(value)) remember(foreign, value, here)
            else know(value)
          }
          return
        }
        // No finding is possible yet; values from the client itself count as known from here on.
        const isFirst = foreign.size === 0 && server.offer('tool', tool ?? '') === undefined
        if (isFirst && !message.text.includes('\\')) {
          for (const [match] of message.text.matchAll(telling)) know(bare(match))
          return
        }
        const acts =
          hint(tool, 'readOnlyHint') === false ||
          hint(tool, 'destructiveHint') === true ||
          (hint(tool, 'openWorldHint') === true && hint(tool, 'readOnlyHint') !== true)
        for (const [value, pointer] of tellingValues(at(message.params, 'arguments'), '/params/arguments')) {
          const from = foreign.get(value)
          if (acts) remember(acted, value, here)
          if (!from) know(value)
          else if (acts && from.t <= here.t)
            say(message, {
              message: flowWords(value, from, here),
              at: pointer,
              what: `${from.server} ${from.tool} ${pointer}`,
            })
        }
      },
    }
  },
}
