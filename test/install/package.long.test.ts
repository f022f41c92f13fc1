import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { run } from '../behaviour/run-cli.js'

const root = resolve(import.meta.dirname, '../..')

it('packs every document and example that a packed document links to', async () => {
  const { stdout } = await run(['npm', 'pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root })
  const [{ files }] = JSON.parse(stdout) as [{ files: { path: string }[] }]
  const packed = new Set(files.map(({ path }) => path))
  const missing = [...packed]
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...readFileSync(join(root, path), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .map((match) => match[1]!)
        .filter((link) => !/^[a-z]+:/.test(link))
        .map((link) => normalize(join(dirname(path), link)))
        .filter((link) => !packed.has(link) && ![...packed].some((each) => each.startsWith(`${link}/`)))
        .map(
          (link) => `${path} links to ${link}${existsSync(join(root, link)) ? '' : ', which does not exist'}`,
        ),
    )
  expect(missing).toEqual([])
})
