/** Links of the documents lead to existing files and headings. */
import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { pages, root } from './pages.js'

describe('the links of', () => {
  it.each(pages)('%s lead to a file and heading', (name) => {
    const page = join(root, name)
    const text = readFileSync(page, 'utf8').replaceAll(/^```[^]*?^```$/gm, '')
    const all = [
      ...[...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target!),
      ...[...text.matchAll(/(?:src|srcset|href)="([^"]+)"/g)].map(([, target]) => target!),
    ]
    // Tests fetch no external URL.
    const [external, internal] = [true, false].map((wanted) =>
      all.filter((target) => /^[a-z]+:/.test(target) === wanted),
    )
    for (const target of external!) expect(target).toMatch(/^https:\/\/[a-z\d-]+(?:\.[a-z\d-]+)+\/[^\s<>"]*$/)
    const broken = internal!.filter((target) => {
      const [path = '', heading] = target.split('#')
      const file = path === '' ? page : join(dirname(page), path)
      if (!existsSync(file)) return true
      if (heading === undefined) return false
      return statSync(file).isDirectory() || !headingsOf(file).includes(heading)
    })
    expect(broken).toEqual([])
  })
})

/** The anchors that GitHub gives to headings. */
function headingsOf(file: string): string[] {
  return [...readFileSync(file, 'utf8').matchAll(/^#+ +(.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  )
}
