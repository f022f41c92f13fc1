import { join } from 'node:path'
import { defineConfig, type Plugin, type UserConfig } from 'vite'

/**
 * Builds four scripts and one style sheet with fixed names; the page around them is index.html
 * (scripts/build-viewer.mjs). `WIRETAPE_VIEWER_PART=patterns` builds the second script, `views` the third,
 * `acting` the one that only `wiretape ui` serves, and `editor` the one that `acting` loads for JSON input.
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

/** Modules of the third and the acting script. Their other viewer modules, and Preact, come from the page's script. */
const notOfPage = /\/viewer\/(?:acting|views|copying|diff|findings|reading|sequence|story|tools)\//
const shared = /\/viewer\/[\w-]+\/|\/node_modules\/@?preact\//

/** The name under which the page stores a module's exports. */
function sharedName(id: string): string {
  return id.replace(/^.*\/(?:viewer|node_modules)\//, '').replace(/\.\w+$/, '')
}

/** Exports modules to those scripts; `WIRETAPE_VIEWER_SHARED` names them (scripts/build-viewer.mjs). */
const sharing: Plugin = {
  name: 'sharing',
  resolveId: (id) => (id === 'shared-by-page' ? `\0${id}` : undefined),
  load(id) {
    if (id !== '\0shared-by-page') return undefined
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
      // Externals keep their full paths, so that the page's script can find them.
      makeAbsoluteExternalsRelative: false,
      ...((isViews || part === 'acting') && {
        external: (id: string, _importer: string | undefined, isResolved: boolean) =>
          isResolved && shared.test(id) && !notOfPage.test(id) && !id.endsWith('.css'),
      }),
      // Formats are imported on demand; a single script contains them all, so `import.meta` is not needed.
      transform: { define: { 'import.meta': '{}' } },
      // Our modules have no side effects on import. Of our dependencies, signals have: they make Preact draw.
      treeshake: {
        moduleSideEffects: (id) =>
          id.endsWith('.css') || id.endsWith(`/viewer/${entry}`) || /@preact[\\/]signals[\\/]/.test(id),
      },
      output: {
        format: 'iife',
        globals: (id: string) => `wiretapeShared[${JSON.stringify(sharedName(id))}]`,
        // A page from disk may not read its script's file. The text of this function replaces it.
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
