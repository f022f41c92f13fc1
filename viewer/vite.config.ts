import { defineConfig } from 'vite'

/** One script and one style sheet with fixed names; the page around them is index.html (scripts/build-viewer.mjs). */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  build: {
    outDir: '../dist/viewer',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: 'main.tsx',
      // Formats are loaded when they are used, which is at once in a single script.
      transform: { define: { 'import.meta': '{}' } },
      // Nothing of ours, nor of what we use, does anything when it is only loaded.
      treeshake: { moduleSideEffects: (id) => id.endsWith('.css') || id.endsWith('/viewer/main.tsx') },
      output: {
        format: 'iife',
        entryFileNames: 'viewer.js',
        assetFileNames: 'viewer[extname]',
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})
