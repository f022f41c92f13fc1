/** The pages of the documentation, their code blocks, and the commands in these. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { lexer, walkTokens } from 'marked'

export const root = resolve(import.meta.dirname, '../..')

/** Paths of all pages, from the root. */
export const pages: readonly string[] = ['.', 'docs', 'docs/recipes', 'docs/decisions', 'examples/vitest']
  .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
  .filter((name) => name.endsWith('.md'))
  .toSorted()

export interface Block {
  readonly page: string
  readonly line: number
  /** Empty for a block without a language, or an indented block. */
  readonly language: string
  readonly text: string
}

export const blocks: readonly Block[] = pages.flatMap((page) => {
  const text = readFileSync(join(root, page), 'utf8')
  const found: Block[] = []
  let from = 0
  void walkTokens(lexer(text), (token) => {
    if (token.type !== 'code') return
    from = Math.max(from, text.indexOf(String(token['text']).split('\n')[0]!, from))
    const line = text.slice(0, from).split('\n').length
    found.push({ page, line, language: String(token['lang'] ?? ''), text: `${token['text']}\n` })
  })
  return found
})

export interface Command {
  readonly page: string
  readonly line: number
  readonly text: string
  /** The output that the page shows below the command; undefined if none. */
  readonly output?: string
}

/** The commands of `sh` and `console` blocks, without comments and continued lines, in the order of the pages. */
export const commands: readonly Command[] = blocks
  .filter(({ language }) => language === 'sh' || language === 'console')
  .flatMap(({ page, line, language, text }) => {
    const joined = text.replaceAll(/\\\n */g, '')
    if (language === 'sh')
      return joined
        .split('\n')
        .map((one) => ({ page, line, text: withoutComment(one) }))
        .filter((one) => one.text !== '')
    return joined.split(/^\$ /m).flatMap((part) => {
      const [command = '', ...output] = part.split('\n')
      const shown = output.join('\n').trim()
      if (command === '') return []
      return [{ page, line, text: withoutComment(command), ...(shown === '' ? {} : { output: shown }) }]
    })
  })

/** Optional arguments in brackets are removed, too. */
function withoutComment(line: string): string {
  return line.replace(/(?:^|\s+)# .*$/, '').replace(/\s+\[[A-Z]+…\]/, '')
}
