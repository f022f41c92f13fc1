import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

const dist = resolve(import.meta.dirname, '../../dist')
const page = ['viewer/index.html', 'viewer/viewer.css', 'viewer/viewer.js']
const acting = ['acting/acting.css', 'acting/acting.js']
const most = 200_000

function gzipped(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(dist, file)), { level: 9 }).length, 0)
}

describe.skipIf(!existsSync(join(dist, page[0]!)))('the page of the viewer', () => {
  it('has at most 200 kB, gzipped, before it loads views, rules and the editor', () => {
    const sizes = { page: gzipped(page), withActing: gzipped([...page, ...acting]) }
    expect(sizes.page).toBeLessThanOrEqual(most)
    expect(sizes.withActing).toBeLessThanOrEqual(most)
  })

  it('names no other script or style that it would load with itself', () => {
    const html = readFileSync(join(dist, 'viewer/index.html'), 'utf8')
    const named = [...html.matchAll(/(?:src|href)="([^"#:]+)"/g)].map(([, name]) => name!.replace('./', ''))
    expect(named.filter((name) => /\.(?:js|css)$/.test(name)).toSorted()).toEqual(['viewer.css', 'viewer.js'])
  })
})
