import { join } from 'node:path'
import { defineConfig, type Plugin, type UserConfig } from 'vite'

/**
 * Four scripts and one style sheet with fixed names; the page around them is index.html (scripts/build-viewer.mjs).
 * `WIRETAPE_VIEWER_PART=patterns` builds the second script, `views` the third, `acting` the one that only `wiretape ui` serves, and
 * `editor` the one that `acting` loads when JSON is written.
 */
const part = process.env['WIRETAPE_VIEWER_PART'] ?? 'page'
const isPatterns = part === 'patterns'
const isPage = part === 'page'
const isViews = part === 'views'
const isActing = part === 'acting' || part === 'editor'
const entries: Readonly<Record<string, string>> = {
  patterns: 'patterns/engine.ts',
  acting: 'acting/main.tsx',
  editor: 'editor/editor.ts',
  views: 'views/main.ts',
}
const entry = entries[part] ?? 'main.tsx'

/** Modules of the third script. It takes every other module of the viewer, and Preact, from the script of the page. */
const ownOfViews = /\/viewer\/(?:views|copying|diff|findings|reading|sequence|story|tools)\//
const shared = /\/viewer\/[\w-]+\/|\/node_modules\/@?preact\//

/** The name under which the page keeps what a module exports. */
function sharedName(id: string): string {
  return id.replace(/^.*\/(?:viewer|node_modules)\//, '').replace(/\.\w+$/, '')
}

/** The module that lets the third script have what it takes; `WIRETAPE_VIEWER_SHARED` names it (scripts/build-viewer.mjs). */
const sharing: Plugin = {
  name: 'sharing',
  resolveId: (id) => (id === 'shared-with-views' ? `\0${id}` : undefined),
  load(id) {
    if (id !== '\0shared-with-views') return undefined
    const taken = JSON.parse(process.env['WIRETAPE_VIEWER_SHARED'] ?? '[]') as readonly string[]
    const imports = taken.map((module, i) => `import * as m${i} from ${JSON.stringify(module)}`)
    const members = taken.map((module, i) => `${JSON.stringify(sharedName(module))}: m${i}`)
    return `${imports.join('\n')}\nexport const shared = { ${members.join(', ')} }\n`
  },
}

const config: UserConfig = {
  root: import.meta.dirname,
  base: './',
  logLevel: 'warn',
  ...(!isPatterns && {
    resolve: {
      alias: {
        re2js: join(import.meta.dirname, 'patterns/shim.ts'),
        'jsonpath-rfc9535/parser': join(import.meta.dirname, 'patterns/json-path.ts'),
      },
    },
  }),
  plugins: [sharing],
  build: {
    outDir: isActing ? '../dist/acting' : '../dist/viewer',
    emptyOutDir: part === 'acting',
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      input: entry,
      // Externals keep their full paths, for the script of the page to find them.
      makeAbsoluteExternalsRelative: false,
      ...(isViews && {
        external: (id: string, _importer: string | undefined, isResolved: boolean) =>
          isResolved && shared.test(id) && !ownOfViews.test(id),
      }),
      // Formats are loaded when they are used, which is at once in a single script.
      transform: { define: { 'import.meta': '{}' } },
      // Nothing of ours does anything when it is only loaded; of what we use, signals make Preact draw.
      treeshake: {
        moduleSideEffects: (id) =>
          id.endsWith('.css') || id.endsWith(`/viewer/${entry}`) || /@preact[\\/]signals[\\/]/.test(id),
      },
      output: {
        format: 'iife',
        globals: (id: string) => `wiretapeShared[${JSON.stringify(sharedName(id))}]`,
        // A page from disk may not read the file of its script; the text of this function is that of the script.
        banner: '(function wiretapeScript(){',
        footer: '})();',
        entryFileNames: isPage ? 'viewer.js' : `${part}.js`,
        assetFileNames: `${isActing ? part : 'viewer'}[extname]`,
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
}

export default defineConfig(config)
