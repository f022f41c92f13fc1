#!/usr/bin/env node
/** Builds the web viewer into dist/viewer: one page, its script, the engine for patterns, one style sheet. What acts goes into dist/acting. */
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'

/** @param {string} root The project's folder. */
export async function buildViewer(root) {
  // Tests set another one, which would build a page that is larger and checks itself.
  process.env['NODE_ENV'] = 'production'
  const { build } = await import('vite')
  for (const part of ['page', 'patterns', 'acting']) {
    process.env['WIRETAPE_VIEWER_PART'] = part
    await build({ configFile: join(root, 'viewer/vite.config.ts') })
  }
  copyFileSync(join(root, 'viewer/index.html'), join(root, 'dist/viewer/index.html'))
}

if (process.argv[1] === import.meta.filename)
  await buildViewer(process.argv[2] ?? join(import.meta.dirname, '..'))
