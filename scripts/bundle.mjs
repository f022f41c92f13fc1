#!/usr/bin/env node
/**
 * Joins what the compiler wrote into a few files below dist/bin: the program a client starts. Node needs half a
 * millisecond for each module it loads, and a recorder stands between a client and the first answer of its server.
 * The library (dist/index.js) stays as the compiler wrote it.
 */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'

/** The program and what it starts as threads of its own; both stand in one folder (see src/proxy/recorder.ts). */
const entries = {
  wiretape: 'dist/cli/main.js',
  'recorder-worker': 'dist/proxy/recorder-worker.js',
  'session-worker': 'dist/capture/session-worker.js',
  'telemetry-worker': 'dist/telemetry/telemetry-worker.js',
  'segment-texts-worker': 'dist/cli/fleet/segment-texts-worker.js',
}

/** @param {string} root The project's folder. */
export async function bundle(root) {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    cwd: root,
    input: entries,
    platform: 'node',
    // What users install beside us stays outside.
    external: (id) =>
      !id.startsWith('.') && !id.startsWith('/') && !id.startsWith('dist/') && !/^[A-Z]:/i.test(id),
    // A module of ours does nothing when it is only loaded: what a folder's index names besides is not loaded with it.
    treeshake: { moduleSideEffects: (_, external) => external },
    logLevel: 'warn',
  })
  try {
    await build.write({
      dir: join(root, 'dist/bin'),
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
      cleanDir: true,
    })
  } finally {
    await build.close()
  }
  chmodSync(join(root, 'dist/bin/wiretape.js'), 0o755)
}

if (process.argv[1] === import.meta.filename) await bundle(process.argv[2] ?? join(import.meta.dirname, '..'))
