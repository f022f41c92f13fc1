/** Links of the documents lead to files and headings that exist. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const pages = ['.', 'docs', 'docs/recipes', 'docs/decisions', 'examples', 'examples/vitest']
  .filter((folder) => existsSync(join(root, folder)))
  .flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(root, folder, name)),
  )

describe('the links of', () => {
  it.each(pages.map((page) => [relative(root, page), page]))('%s lead somewhere', (_, page) => {
    const text = readFileSync(page, 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
    const targets = [
      ...[...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target!),
      ...[...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map(([, target]) => target!),
    ].filter((target) => !/^[a-z]+:/.test(target))
    const broken = targets.filter((target) => {
      const [path = '', heading] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(file)) return true
      if (heading === undefined) return false
      return statSync(file).isDirectory() || !headingsOf(file).includes(heading)
    })
    expect(broken).toEqual([])
  })
})

/** The names that GitHub gives to headings. */
function headingsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}
