import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Where the counts go as JSON, for whoever adds up several runs. */
const report = process.env['WIRETAPE_TEST_REPORT']

/** Further cases that start processes and take long are left to `npm run test:long`, but for those who want all. */
const tooLong = ['WIRETAPE_LONG', 'WIRETAPE_ALL'].some((name) => process.env[name] !== undefined)
  ? []
  : ['test/**/*.long.test.ts']

/**
 * Tests in a process of their own: those that replace a module, measure memory, or take long. All others share a process,
 * as loading vitest and the program for each file took longer than most files' tests; `test/setup.ts` looks after each
 * file for what it left behind.
 */
const alone = [
  'test/**/*.long.test.ts',
  'test/cli/collect/fetch-segment.test.ts',
  'test/cli/sql/open-engine.test.ts',
  'test/redaction/pair-search.test.ts',
  'test/regressions/ui-ends-at-once.test.ts',
  'test/transports/http-proxy-flow.test.ts',
]

const source = join(import.meta.dirname, 'src/')
const compiled = join(import.meta.dirname, 'dist/')
/** Windows has other slashes. */
const insideOfBuild = new RegExp(compiled.replaceAll('\\', '/').replaceAll(/[^\w/]/g, String.raw`\$&`))

/** `npx vitest` watches; it has to see the sources. */
const isWatching = !process.argv.some((word) => /^(?:--)?run$/.test(word))

/**
 * Tests load the modules of src from dist, which `test/global-setup.ts` keeps up to date. Vitest would compile each
 * module again in every run, and its output runs more slowly. Tests that replace a module need vitest's loader, so the
 * project `alone` has none of this.
 */
const buildInPlaceOfSource = {
  name: 'build-in-place-of-source',
  enforce: 'pre' as const,
  resolveId(id: string, importer?: string) {
    if (isWatching || importer === undefined) return undefined
    const path = resolve(dirname(importer), id)
    const built = path.startsWith(source) ? join(compiled, path.slice(source.length)) : path
    return built.startsWith(compiled) && existsSync(built) ? built : undefined
  },
}

// Where this variable is set, Node reads all certificates of its file at every start, and so takes half as long again.
// The tests start hundreds of processes, and those that need certificates set the variable themselves.
delete process.env['NODE_EXTRA_CA_CERTS']

export default defineConfig({
  // The examples say what users say.
  resolve: {
    alias: {
      'wiretape/vitest': resolve(import.meta.dirname, 'dist/testing/vitest.js'),
      wiretape: resolve(import.meta.dirname, 'dist/index.js'),
    },
  },
  test: {
    environment: 'node',
    pool: 'forks',
    // Many tests start processes of their own: half of a large machine, both cores of a small one.
    maxWorkers: Math.max(2, Math.floor(availableParallelism() / 2)),
    setupFiles: ['test/setup.ts'],
    globalSetup: ['test/global-setup.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Real processes and signals on a shared machine: a test that fails is asked twice more there, and only there.
    retry: process.env['CI'] === undefined ? 0 : 2,
    reporters: report === undefined ? ['default'] : ['default', ['json', { outputFile: report }]],
    projects: [
      { extends: true, test: { name: 'alone', include: alone, exclude: tooLong } },
      {
        extends: true,
        plugins: [buildInPlaceOfSource],
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...alone],
          isolate: false,
          server: { deps: { external: isWatching ? [] : [insideOfBuild] } },
        },
      },
    ],
  },
})
