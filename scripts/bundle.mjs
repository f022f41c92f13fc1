#!/usr/bin/env node
/**
 * Joins the compiler's output into a few files below dist/bin: the program that a client starts. Node needs half a
 * millisecond to load a module, and a client waits for the recorder before the first response of its server. The
 * library (dist/index.js) stays unbundled.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/**
 * The program and its worker threads, all in one folder (see src/proxy/recorder.ts). Each is bundled by itself: shared
 * modules would otherwise be split into dozens of small files.
 */
const entries = {
  wiretape: 'dist/cli/main.js',
  'recorder-worker': 'dist/proxy/recorder-worker.js',
  'session-worker': 'dist/capture/session-worker.js',
  'telemetry-worker': 'dist/telemetry/telemetry-worker.js',
  'line-worker': 'dist/cli/line-worker.js',
  'transcript-worker': 'dist/cli/transcript-worker.js',
  'batch-worker': 'dist/cli/sql/batch-worker.js',
  'segment-texts-worker': 'dist/cli/fleet/segment-texts-worker.js',
}

/**
 * Modules that a recorder on stdio needs before its first message, per entry. They and all their static imports become
 * one file, whose compiled code can be kept (see src/compiled-code). A smaller file before it starts
 * the server. The entry itself is small.
 *
 * @type {Record<string, { name: string, files: string[] }[]>}
 */
const early = {
  wiretape: [
    { name: 'first', files: ['dist/cli/run/first-start.js'] },
    { name: 'start', files: ['dist/cli/command-line.js', 'dist/cli/run/record.js'] },
  ],
  'recorder-worker': [{ name: 'recorder-thread', files: ['dist/proxy/record-in-thread.js'] }],
}

/** Packages that are bundled: small ones of those modules, and those that `require` of Node 20 cannot load, or only with a warning. */
const inside =
  /^(?:string-width|strip-ansi|ansi-regex|get-east-asian-width|hyparquet|hyparquet-writer|jsonpath-rfc9535|toml-eslint-parser|eslint-visitor-keys|@noble\/hashes)(?:$|\/)/

/** @param {string} root The project's folder. */
export async function bundle(root) {
  const { rolldown } = await import('rolldown')
  rmSync(join(root, 'dist/bin'), { recursive: true, force: true })
  for (const [name, file] of Object.entries(entries)) {
    const build = await rolldown({
      ...inputOptions(root),
      input: { [name]: file },
      plugins: [builtinsLater, onlyAscii],
    })
    try {
      /** @type {import('rolldown').OutputOptions} */
      const options = {
        dir: join(root, 'dist/bin'),
        // Node loads CommonJS modules sooner, and can keep their compiled code.
        format: 'cjs',
        // Kept code cannot contain `import()`.
        dynamicImportInCjs: false,
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        comments: { legal: true, annotation: false, jsdoc: false },
      }
      const groupsOf = early[name] ?? []
      const groups = await Promise.all(
        groupsOf.map(async (group, i) => {
          const modules = await staticImports(root, group.files)
          return {
            name: group.name,
            test: (/** @type {string} */ id) => modules.has(id),
            priority: groupsOf.length - i,
          }
        }),
      )
      if (groups.length > 0) options.codeSplitting = { groups, includeDependenciesRecursively: false }
      await build.write(options)
    } finally {
      await build.close()
    }
  }
  const { redactionTables } = await import(pathToFileURL(join(root, 'dist/redaction/index.js')).href)
  writeFileSync(join(root, 'dist/bin/redaction.tables'), redactionTables())
  buildModule(root)
  writeFileSync(join(root, 'dist/bin/package.json'), '{"type":"commonjs"}\n')
  chmodSync(join(root, 'dist/bin/wiretape.js'), 0o755)
}

/**
 * Loads modules of Node at their first use: `node:crypto` alone takes 6 to 12 ms, and a recorder does not need it before
 * the first message.
 *
 * @type {import('rolldown').Plugin}
 */
const builtinsLater = {
  name: 'builtins-later',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk') continue
      const names = new Set()
      const declared = /^let (node_\w+) = require\("(node:[\w/]+)"\);\n(?:\1 = \S*__toESM\(\1, 1\);\n)?/gm
      chunk.code = chunk.code.replace(declared, (_, name, id) => {
        names.add(name)
        return `let $${name}; const ${name} = () => $${name} ??= require("${id}");\n`
      })
      for (const name of names)
        chunk.code = chunk.code.replace(
          new RegExp(`(?<![$\\w])${name}(?:\\.default\\b|(?=\\.))`, 'g'),
          `(${name}())`,
        )
    }
  },
}

/**
 * Escapes what is not ASCII in the files of `early`: V8 keeps such a text as UTF-16, and needs twice the time to load it.
 *
 * @type {import('rolldown').Plugin}
 */
const onlyAscii = {
  name: 'only-ascii',
  generateBundle(_, bundle) {
    for (const chunk of Object.values(bundle)) {
      if (chunk.type !== 'chunk' || !isEarly(chunk.name)) continue
      const raw = /String\.raw`[^`]*[^\0-\x7f][^`]*`/.exec(chunk.code)
      if (raw) throw new Error(`${chunk.name}: an escape would change the text of ${raw[0]}`)
      chunk.code = chunk.code.replace(
        /[^\0-\x7f]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      )
    }
  },
}

/** @param {string} name of a file */
function isEarly(name) {
  return Object.values(early).some((groups) => groups.some((group) => group.name === name))
}

/** Memory of the WebAssembly module in pages of 64 KiB: of one recording and its rehearsal. */
const modulePages = 256

/** Compiles wasm/index.ts. Its types would change those of Node here, so it is not imported. @param {string} root */
function buildModule(root) {
  const memory = ['--initialMemory', String(modulePages), '--maximumMemory', String(modulePages)]
  const options = [
    '-o',
    'dist/bin/messages.wasm',
    '--runtime',
    'stub',
    '--enable',
    'simd',
    '-O3',
    '--noAssert',
  ]
  const compiler = join(root, 'node_modules/assemblyscript/bin/asc.js')
  execFileSync(process.execPath, [compiler, 'wasm/index.ts', ...options, ...memory], {
    cwd: root,
    stdio: 'inherit',
  })
}

/** @param {string} root @returns {import('rolldown').InputOptions} */
function inputOptions(root) {
  return {
    cwd: root,
    preserveEntrySignatures: 'allow-extension',
    platform: 'node',
    // A user's installed packages are not bundled.
    external: (id) =>
      !id.startsWith('.') &&
      !id.startsWith('/') &&
      !id.startsWith('dist/') &&
      !/^[A-Z]:/i.test(id) &&
      !inside.test(id),
    // Loading a module of ours has no side effects, so unused re-exports of an index are left out.
    treeshake: { moduleSideEffects: (_, external) => external },
    logLevel: 'warn',
    // These dynamic imports end up in one file on purpose.
    checks: { ineffectiveDynamicImport: false },
  }
}

/**
 * Modules and all their static imports, without the unused ones.
 *
 * @param {string} root @param {readonly string[]} files
 */
async function staticImports(root, files) {
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    ...inputOptions(root),
    input: Object.fromEntries(files.map((file, i) => [String(i), file])),
    plugins: [{ name: 'later', resolveDynamicImport: (id) => ({ id, external: true }) }],
  })
  try {
    const { output } = await build.generate({ format: 'esm' })
    return new Set(output.flatMap((each) => (each.type === 'chunk' ? each.moduleIds : [])))
  } finally {
    await build.close()
  }
}

if (process.argv[1] === import.meta.filename) await bundle(process.argv[2] ?? join(import.meta.dirname, '..'))
