import { join } from 'node:path'
import { defineConfig, type UserConfig } from 'vite'

/**
 * Three scripts and one style sheet with fixed names; the page around them is index.html (scripts/build-viewer.mjs).
 * `WIRETAPE_VIEWER_PART=patterns` builds the second script, `acting` the one that only `wiretape ui` serves.
 */
const part = process.env['WIRETAPE_VIEWER_PART'] ?? 'page'
const isPatterns = part === 'patterns'
const isPage = part === 'page'
const entry = isPatterns ? 'patterns/engine.ts' : part === 'acting' ? 'acting/main.tsx' : 'main.tsx'

const config: UserConfig = {
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  ...(!isPatterns && { resolve: { alias: { re2js: join(import.meta.dirname, 'patterns/shim.ts') } } }),
  build: {
    outDir: part === 'acting' ? '../dist/acting' : '../dist/viewer',
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
      // Nothing of ours does anything when it is only loaded; of what we use, signals make Preact draw.
      treeshake: {
        moduleSideEffects: (id) =>
          id.endsWith('.css') || id.endsWith(`/viewer/${entry}`) || /@preact[\\/]signals[\\/]/.test(id),
      },
      output: {
        format: 'iife',
        // A page from disk may not read the file of its script; the text of this function is that of the script.
        banner: '(function wiretapeScript(){',
        footer: '})();',
        entryFileNames: isPage ? 'viewer.js' : `${part}.js`,
        assetFileNames: 'viewer[extname]',
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}

export default defineConfig(config)
