import { join } from 'node:path'
import { defineConfig, type UserConfig } from 'vite'

/**
 * Two scripts and one style sheet with fixed names; the page around them is index.html (scripts/build-viewer.mjs).
 * `WIRETAPE_VIEWER_PART=patterns` builds the second script.
 */
const isPatterns = process.env['WIRETAPE_VIEWER_PART'] === 'patterns'
const entry = isPatterns ? 'patterns/engine.ts' : 'main.tsx'

const config: UserConfig = {
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  ...(!isPatterns && { resolve: { alias: { re2js: join(import.meta.dirname, 'patterns/shim.ts') } } }),
  build: {
    outDir: '../dist/viewer',
    emptyOutDir: !isPatterns,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: entry,
      // Formats are loaded when they are used, which is at once in a single script.
      transform: { define: { 'import.meta': '{}' } },
      // Nothing of ours, nor of what we use, does anything when it is only loaded.
      treeshake: { moduleSideEffects: (id) => id.endsWith('.css') || id.endsWith(`/viewer/${entry}`) },
      output: {
        format: 'iife',
        // A page from disk may not read the file of its script; the text of this function is that of the script.
        banner: '(function wiretapeScript(){',
        footer: '})();',
        entryFileNames: isPatterns ? 'patterns.js' : 'viewer.js',
        assetFileNames: 'viewer[extname]',
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}

export default defineConfig(config)
