/** For vitest: `import { test } from 'wiretape/vitest'`. */
import { createHash } from 'node:crypto'
import { basename, dirname, join, relative } from 'node:path'
import { test as base } from 'vitest'
import { TestTapes } from './tapes.js'

export type { CassetteMode, ServerCommand, TestTapes } from './tapes.js'

/**
 * vitest's `test` with `wiretape`, the tapes of a test. A failed test keeps them in `test-results/wiretape`, each with
 * an HTML report; cassettes are in `__cassettes__` beside the test's file. `WIRETAPE_MODE` sets how cassettes are
 * used; in CI (`CI` is set) none is recorded.
 */
export const test = base.extend<{ wiretape: TestTapes }>({
  wiretape: async ({ task }, use) => {
    const { filepath } = task.file
    const tapes = new TestTapes({
      results: join(
        process.cwd(),
        'test-results',
        'wiretape',
        folderName(relative(process.cwd(), filepath), task),
      ),
      cassettes: join(dirname(filepath), '__cassettes__'),
      mode: process.env['WIRETAPE_MODE'],
      isReadOnly: isSet(process.env['CI']),
    })
    await use(tapes)
    const hasFailed = task.result?.state === 'fail' || (task.result?.errors?.length ?? 0) > 0
    const kept = await tapes.finish(hasFailed)
    if (kept.length > 0)
      process.stderr.write(
        `\n${task.name} failed; wiretape kept\n${kept.map((path) => `  ${path}\n`).join('')}`,
      )
  },
})

/** A readable name, unique for each test. */
function folderName(file: string, task: { readonly name: string; readonly id: string }): string {
  const words = `${basename(file).replace(/\..*$/, '')}-${task.name}`
  const digest = createHash('sha256').update(`${file}\n${task.id}`).digest('hex').slice(0, 6)
  return `${words.replaceAll(/[^\w]+/g, '-').slice(0, 60)}-${digest}`
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== '' && value !== 'false' && value !== '0'
}
