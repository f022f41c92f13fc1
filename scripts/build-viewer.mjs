#!/usr/bin/env node
/**
 * Builds the web viewer into dist/viewer: one page, its script, the engine for patterns, further views, one style
 * sheet. The files that only a page of `wiretape ui` loads go into dist/acting.
 */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** @param {string} root The project's folder. */
export async function buildViewer(root) {
  // Vitest sets another NODE_ENV, with which the page would be larger and contain development checks.
  process.env['NODE_ENV'] = 'production'
  const { build } = await import('vite')
  rmSync(join(root, 'dist/viewer'), { recursive: true, force: true })
  /** @type {Set<string>} */
  const shared = new Set()
  for (const part of ['views', 'acting', 'page', 'patterns', 'editor']) {
    process.env['WIRETAPE_VIEWER_PART'] = part
    process.env['WIRETAPE_VIEWER_SHARED'] = JSON.stringify([...shared])
    const built = await build({ configFile: join(root, 'viewer/vite.config.ts') })
    if (part === 'views' || part === 'acting') for (const module of takenBy(built)) shared.add(module)
  }
  copyFileSync(join(root, 'viewer/index.html'), join(root, 'dist/viewer/index.html'))
}

/**
 * Modules that a script imports from other files.
 *
 * @param {any} built
 * @returns {readonly string[]}
 */
function takenBy(built) {
  const { output } = Array.isArray(built) ? built[0] : built
  return output[0].imports
}

if (process.argv[1] === import.meta.filename)
  await buildViewer(process.argv[2] ?? join(import.meta.dirname, '..'))
