/** Text of peers in each kind of output, read by what shows that output to people. */
import { marked } from 'marked'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foreignMessage, foreignMeta } from '../../src/formats/foreign/records.js'
import { pageAround } from '../../src/formats/html/page.js'
import {
  createCommandGuard,
  escapeJson,
  escapeLines,
  escapeText,
  markdownCode,
  markdownText,
  workflowCommand,
} from '../../src/render/index.js'
import { adopted, write } from '../formats/codec-stage.js'
import { hostileTexts } from './hostile-texts.js'

/** One of the list, several of them, or cut out of them. */
const anyHostile = fc
  .array(fc.oneof(fc.constantFrom(...hostileTexts), fc.string({ unit: 'binary', maxLength: 4 })), {
    minLength: 1,
    maxLength: 4,
  })
  .chain((parts) => {
    const text = parts.join('')
    return fc.nat(text.length).map((start) => text.slice(start))
  })
const harmful = /[\u0000-\u0008\u000b-\u001f\p{Cf}\p{Cs}\u007f-\u009f\u2028\u2029\u3164\u115f]/u

function eachHostile(check: (text: string) => void): void {
  for (const text of hostileTexts) check(text)
  fc.assert(fc.property(anyHostile, check))
}

const startedAt = '2026-08-01T10:00:00.000Z'
async function written(format: string, text: string): Promise<string> {
  const json = JSON.stringify(text)
  const call = `{"jsonrpc":"2.0","id":${json},"method":${json},"params":{"name":${json},"x":${json}}}`
  const failed = `{"jsonrpc":"2.0","id":${json},"error":{"code":-1,"message":${json}}}`
  const records = await adopted([
    foreignMeta({ startedAt, transport: 'stdio', label: text }),
    foreignMessage(call, { t: startedAt, direction: 'client_to_server' }),
    foreignMessage(failed, { t: startedAt, direction: 'server_to_client' }),
    { type: 'noise', t: startedAt, us: 1, direction: 'server_to_client', text },
    { type: 'stderr', t: startedAt, us: 1, text },
    { type: 'gap', t: startedAt, us: 1, lost: 1, why: text },
  ])
  return (await write(format, records)).text
}

describe('a terminal', () => {
  it('is not commanded, turned around or given something that is not seen', () => {
    eachHostile((text) => {
      expect(escapeText(text)).not.toMatch(harmful)
      expect(escapeText(text)).not.toMatch(/[\n\t]/)
      expect(escapeLines(text)).not.toMatch(harmful)
    })
  })

  it('shows JSON with the same value and none of that', () => {
    eachHostile((text) => {
      const shown = escapeJson(JSON.stringify({ [text]: [text] }))
      expect(shown).not.toMatch(harmful)
      expect(JSON.parse(shown)).toEqual({ [text]: [text] })
    })
  })
})

describe('a spreadsheet', () => {
  const sign = /^[=+@\-＝＋－＠]/
  const blanks = /^[\s"\p{Cc}\p{Cf}\u3164]+/u
  const isNumber = /^-?\d+(?:\.\d+)?$/
  const beginsFormula = (cell: string): boolean => !isNumber.test(cell) && sign.test(cell.replace(blanks, ''))
  /** RFC 4180 with another separator; quotes count only where a cell begins with them. */
  function cellsOf(text: string, separator: string): string[] {
    const cells: string[] = []
    let at = 0
    while (at < text.length) {
      if (text[at] === '"') {
        let value = ''
        for (at += 1; at < text.length; at += 1) {
          if (text[at] !== '"') value += text[at]
          else if (text[at + 1] === '"') value += text[(at += 1)]
          else break
        }
        at += 1
        const end = text.slice(at).search(new RegExp(`[${separator}\r\n]|$`))
        cells.push(value + text.slice(at, at + end))
        at += end + 1
      } else {
        const end = text.slice(at).search(new RegExp(`[${separator}\r\n]|$`))
        cells.push(text.slice(at, at + end))
        at += end + 1
      }
    }
    return cells
  }

  it.each([',', ';'])('whose lists are separated by %j runs nothing', async (separator) => {
    const check = async (text: string): Promise<void> => {
      const cells = cellsOf(await written('csv', text), separator)
      expect(cells.filter(beginsFormula)).toEqual([])
    }
    for (const text of hostileTexts) await check(text)
    await fc.assert(fc.asyncProperty(anyHostile, check), { numRuns: 200 })
  })

  it('gets numbers and JSON as they are', async () => {
    const { text } = await write(
      'csv',
      await adopted([
        foreignMeta({ startedAt, transport: 'stdio', label: 'x' }),
        foreignMessage('{"jsonrpc":"2.0","id":-5,"method":"a","params":{"a":[-1,+1],"b":"c; d"}}', {
          t: startedAt,
          direction: 'client_to_server',
        }),
      ]),
    )
    expect(text).toContain(',-5,')
    expect(text).toContain('{""a"":[-1,+1],""b"":""c; d""}')
  })
})

describe('Markdown', () => {
  /** The page without its code: outside of code, addresses become links and names are notified. */
  function pageOf(markdown: string): string {
    const html = marked.parse(markdown, { gfm: true, async: false })
    return html.replaceAll(/<code[^>]*>[^<]*<\/code>/g, '')
  }

  it('has text of peers as text: no markup, no links, nobody notified', () => {
    eachHostile((text) => {
      const html = pageOf(`a ${markdownText(text, 'line')} b`)
      expect(html).toMatch(/^<p>a [A-Za-z /]*b<\/p>\n$/)
    })
  })

  it('keeps it in its cell', () => {
    eachHostile((text) => {
      if (text !== '') expect(pageOf(markdownCode(text, 'line'))).toBe('<p></p>\n')
      const html = pageOf(`| a | b |\n|---|---|\n| ${markdownText(text, 'cell')} | end |\n`)
      expect(html).toMatch(/<td>[A-Za-z /]*<\/td>\n<td>end<\/td>\n<\/tr>\n<\/tbody>/)
    })
  })

  it('has whole reports like that', async () => {
    for (const text of hostileTexts) {
      const report = await written('markdown', text)
      expect(report.replaceAll('\n', '')).not.toMatch(harmful)
      expect(pageOf(report)).not.toMatch(/[@:]\w|<(?:a|img|script)|evil/i)
    }
  })
})

describe('HTML', () => {
  it('has its title and its attributes whole, and nothing in them turns the reading direction around', async () => {
    const page = { script: '', patterns: '', views: '', style: '' }
    for (const text of hostileTexts) {
      const [before] = await pageAround(page, text)
      expect(before.replaceAll('\n', '')).not.toMatch(harmful)
      expect(before.match(/<title>([^<>]*)<\/title>\n<link/)).not.toBeNull()
      expect(before.match(/data-name="[^"<>]*">$/)).not.toBeNull()
    }
  })
})

describe('GitHub Actions', () => {
  /** Commands as the runner parses them: https://github.com/actions/runner, ActionCommand.cs. */
  const commandsIn = (text: string): string[] =>
    text
      .split(/\r\n|\r|\n/)
      .filter((line) => line.replace(/^[\s\u0085]+/, '').startsWith('::') || line.includes('##['))

  it('finds no command in what is printed, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.array(anyHostile, { maxLength: 6 }), (pieces) => {
        const guard = createCommandGuard()
        const text = pieces.map(guard).join('')
        expect(commandsIn(text)).toEqual([])
        const json = createCommandGuard()(JSON.stringify(pieces))
        expect(JSON.parse(json)).toEqual(pieces)
      }),
    )
  })

  it('gets text without commands exactly', () => {
    const text = 'a :: b\n: :\nx::y # ## #[ ::\n'
    const guard = createCommandGuard()
    expect(text.split('').map(guard).join('')).toBe(text)
  })

  it('finds one command in an annotation', () => {
    eachHostile((text) => {
      const line = workflowCommand('error', text, text)
      expect(commandsIn(line)).toHaveLength(1)
      expect(line.slice(0, -1)).not.toMatch(/[\r\n]|##\[/)
      expect(line.match(/^::error title=([^:,]*)::/)).not.toBeNull()
    })
  })
})
