import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Where the counts go as JSON, for whoever adds up several runs. */
const report = process.env['WIRETAPE_TEST_REPORT']

/** What takes its time is left to `npm run test:long`, but for those who want all. */
const tooLong = ['WIRETAPE_LONG', 'WIRETAPE_ALL'].some((name) => process.env[name] !== undefined)
  ? []
  : ['test/**/*.long.test.ts']

/** What these folders' tests leave behind in a process disturbs no other test: they start none and listen to nothing. */
const pure = [
  'compare',
  'control-schema',
  'filter',
  'formats',
  'intercept',
  'json-path',
  'model',
  'proxy',
  'redaction',
  'render',
  'tui',
  'wire',
].map((folder) => `test/${folder}/**/*.test.ts`)

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
      {
        extends: true,
        test: {
          name: 'processes',
          include: ['test/**/*.test.ts', 'examples/**/*.test.ts'],
          exclude: ['**/node_modules/**', ...pure, ...tooLong],
        },
      },
      // One process for many files, as loading the program for each took longer than its tests.
      { extends: true, test: { name: 'pure', include: pure, exclude: tooLong, isolate: false } },
    ],
  },
})
