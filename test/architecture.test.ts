import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'

/**
 * The import table. `imports` are the folders whose door (`index.ts`) may be imported; `types` may be
 * imported with `import type` only; `lazily` with `import()` (or `import type`) only.
 */
interface Rule {
  readonly pure: boolean
  readonly imports: readonly string[]
  readonly types?: readonly string[]
  readonly lazily?: readonly string[]
}

const pureFolders = [
  'model',
  'wire',
  'json-path',
  'formats',
  'redaction',
  'filter',
  'compare',
  'render',
  'control-schema',
  'findings',
  'codegen',
  'yaml',
  'saved-calls',
]
const aboveCapture = [...pureFolders, 'tape', 'policy', 'transports', 'link', 'intercept', 'proxy', 'control']
const belowMock = [
  'model',
  'wire',
  'transports',
  'link',
  'formats',
  'filter',
  'compare',
  'intercept',
  'redaction',
  'tape',
]
const belowScreens = [...aboveCapture, 'capture', 'replay', 'mock', 'clients', 'doctor', 'ship']

const table: Readonly<Record<string, Rule>> = {
  model: { pure: true, imports: [] },
  wire: { pure: true, imports: [], types: ['model'] },
  formats: { pure: true, imports: ['model', 'wire', 'render'] },
  'json-path': { pure: true, imports: ['wire'] },
  redaction: { pure: true, imports: ['model', 'wire', 'json-path'] },
  filter: { pure: true, imports: ['model', 'wire', 'json-path'] },
  compare: { pure: true, imports: ['model', 'wire', 'json-path', 'render'] },
  render: { pure: true, imports: ['model', 'wire'] },
  'control-schema': { pure: true, imports: ['model', 'filter'] },
  findings: { pure: true, imports: ['model', 'wire', 'json-path', 'filter', 'compare', 'render'] },
  codegen: { pure: true, imports: ['model', 'compare', 'redaction'] },
  yaml: { pure: true, imports: ['model', 'filter'] },
  'saved-calls': { pure: true, imports: ['model', 'wire', 'json-path', 'compare', 'redaction', 'yaml'] },
  tape: { pure: false, imports: ['model', 'wire', 'formats'] },
  policy: { pure: false, imports: ['model', 'redaction', 'tape', 'yaml'] },
  transports: { pure: false, imports: ['model', 'wire'] },
  link: { pure: false, imports: ['model', 'wire', 'transports'] },
  intercept: { pure: false, imports: ['model', 'wire', 'json-path', 'filter', 'yaml'] },
  'compiled-code': { pure: false, imports: [] },
  proxy: {
    pure: false,
    imports: ['model', 'wire', 'transports', 'intercept', 'redaction', 'tape', 'compiled-code'],
  },
  control: { pure: false, imports: ['model', 'wire', 'control-schema'] },
  clients: { pure: false, imports: ['model', 'render'] },
  doctor: { pure: false, imports: ['model', 'render', 'transports', 'link', 'clients'] },
  telemetry: { pure: false, imports: ['model', 'formats', 'tape', 'control'] },
  capture: { pure: false, imports: aboveCapture, types: ['telemetry'] },
  replay: { pure: false, imports: [...belowMock, 'json-path'] },
  mock: { pure: false, imports: belowMock },
  ship: { pure: false, imports: ['model', 'wire', 'formats', 'transports', 'tape', 'control'] },
  'ui-server': { pure: false, imports: belowScreens },
  testing: { pure: false, imports: ['model', 'tape', 'capture'] },
  tui: { pure: false, imports: belowScreens },
  cli: {
    pure: false,
    imports: [...belowScreens, 'compiled-code'],
    lazily: ['tui', 'ui-server', 'telemetry'],
  },
}
/** The viewer is not a folder of src; the rules for pure folders apply to it. */
const viewerRule: Rule = { pure: false, imports: pureFolders }

/** Packages that need neither Node nor a DOM. */
const purePackages = new Set(['string-width', 'zod', 'jsonpath-rfc9535', 're2js', 'yaml', 'hyparquet-writer'])
const longestFile = 400

const project = resolve(import.meta.dirname, '..')

describe('the import table', () => {
  it('is kept by every source file', () => {
    expect(violations(project)).toEqual([])
  })
})

describe('imports', () => {
  it.for(['src', 'viewer'])('of %s go round in no circle, not even those of types', (folder) => {
    expect(circles(project, folder)).toEqual([])
  })
})

describe('signals', () => {
  it('are never those with a timer that may be garbage-collected: `createDeadline` holds its own', () => {
    const uses = ['src', 'viewer', 'test'].flatMap((folder) =>
      readdirSync(join(project, folder), { recursive: true, encoding: 'utf8' })
        .filter((path) => /\.[mc]?[jt]sx?$/.test(path) && !path.includes('node_modules'))
        .filter((path) =>
          /AbortSignal\.(?:any|timeout)\(/.test(readFileSync(join(project, folder, path), 'utf8')),
        )
        .map((path) => posix.join(folder, path)),
    )
    expect(uses).toEqual([])
  })
})

describe('the stderr that we share with a client', () => {
  it('is not touched by an import of `node:util`, which looks at `process.stderr` on Node 24', () => {
    const uses = readdirSync(join(project, 'src'), { recursive: true, encoding: 'utf8' }).filter(
      (path) =>
        path.endsWith('.ts') && /from 'node:util'/.test(readFileSync(join(project, 'src', path), 'utf8')),
    )
    expect(uses).toEqual([])
  })
})

describe('tests that replace or reload a module', () => {
  it('run alone, since the others load the build, which vitest cannot replace', () => {
    const config = readFileSync(join(import.meta.dirname, '../vitest.config.ts'), 'utf8')
    const files = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    const replacing = files.filter(
      (name) =>
        name.endsWith('.test.ts') &&
        !name.endsWith('.long.test.ts') &&
        /\bvi\.(?:mock|doMock|resetModules)\(/.test(readFileSync(join(import.meta.dirname, name), 'utf8')),
    )
    expect(replacing.length).toBeGreaterThan(0)
    expect(replacing.filter((name) => !config.includes(`'test/${name.replaceAll('\\', '/')}'`))).toEqual([])
  })
})

describe('the check itself', () => {
  const trees: string[] = []
  afterEach(() => {
    for (const tree of trees.splice(0)) rmSync(tree, { recursive: true, force: true })
  })

  /** Checks a small tree made of the given files, with a door for each folder named in them. */
  function check(files: Record<string, string>): string[] {
    const root = mkdtempSync(join(tmpdir(), 'wiretape-architecture-'))
    trees.push(root)
    const manifest = JSON.stringify({ dependencies: { 'string-width': '1', commander: '1' } })
    for (const [path, text] of Object.entries({ 'package.json': manifest, ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    return violations(root)
  }

  it('passes a tree that keeps the table', () => {
    const found = check({
      'src/index.ts': `export { a } from './cli/index.js'\nexport type { M } from './model/index.js'`,
      'src/model/index.ts': `export * from './deep/record.js'`,
      'src/model/deep/record.ts': `import { x } from '../fold.js'`,
      'src/model/fold.ts': `export const x = 1`,
      'src/wire/index.ts': `import type { M } from '../model/index.js'`,
      'src/render/columns.ts': `import width from 'string-width'`,
      'src/tape/writer.ts': `import { open } from 'node:fs/promises'\nimport { f } from '../formats/index.js'`,
      'src/cli/commands/attach.ts': `
        import { Command } from 'commander'
        import type { State } from '../../tui/index.js'
        const tui = await import('../../tui/index.js')
        const worker = new URL('./worker.js', import.meta.url)
        const version = new URL('../../../package.json', import.meta.url)`,
      'viewer/app.tsx': `import { m } from '../src/model/index.js'\nimport './app.css'`,
    })
    expect(found).toEqual([])
  })

  it.each([
    ['a static import', `import { a } from '../cli/index.js'`],
    ['a default and named import over several lines', `import a,\n  { b as c }\nfrom\n  "../cli/index.js"`],
    ['an import of a namespace', `import * as a from '../cli/index.js'`],
    ['an import for its effect', `import '../cli/index.js'`],
    ['an import of types', `import type { A } from '../cli/index.js'`],
    ['a re-export', `export { a } from '../cli/index.js'`],
    ['a re-export of everything', `export * as a from '../cli/index.js'`],
    ['a re-export of types', `export type { A } from '../cli/index.js'`],
    ['a dynamic import', `const a = await import('../cli/index.js')`],
    ['a dynamic import with a template', 'const a = await import(`../cli/index.js`)'],
    ['a dynamic import inside a template', 'const a = `${await import("../cli/index.js")} ${`}`}`'],
    [
      'a dynamic import after a regular expression',
      `const a = /['"\`/*]/.test(b) || import('../cli/index.js')`,
    ],
    ['a dynamic import after a division', `const a = b / c; import('../cli/index.js') // '`],
    ['a dynamic import with a comment inside', `const a = import(/* why */ '../cli/index.js')`],
    ['the type of an import', `type A = import('../cli/index.js').A`],
    ['a worker', `new Worker(new URL('../cli/index.js', import.meta.url))`],
  ])('sees %s', (_, text) => {
    const found = check({ 'src/model/a.ts': `export const one = 1\n${text}\nexport const two = 2\n` })
    expect(found).toEqual([`src/model/a.ts: model may not import cli ('../cli/index.js')`])
  })

  it.each([
    ['a comment', `// import '../cli/index.js'\n/* import '../cli/index.js' */`],
    ['a string', `const a = "import '../cli/index.js'"`],
    ['a template', "const a = `import '../cli/index.js'`"],
    ['a regular expression', `const a = /import '..\\/cli\\/index.js'/`],
    ['a member called import', `const a = { import: '../cli/index.js' }; a.import('../cli/index.js')`],
    [
      'an export of its own',
      `export const from = '../cli/index.js'; export { from }; const b = '../cli/index.js'`,
    ],
    ['import.meta', `const a = import.meta.url; const b = '../cli/index.js'`],
  ])('does not mistake %s for an import', (_, text) => {
    expect(check({ 'src/model/a.ts': text })).toEqual([])
  })

  it.each<[string, Record<string, string>, string]>([
    [
      'an import past a door',
      { 'src/proxy/a.ts': `import { F } from '../wire/framer.js'` },
      `src/proxy/a.ts: '../wire/framer.js' goes past the door of wire, import its index.js`,
    ],
    [
      'an import past a door from the public surface',
      { 'src/index.ts': `export { F } from './wire/framer.js'` },
      `src/index.ts: './wire/framer.js' goes past the door of wire, import its index.js`,
    ],
    [
      'values taken where only types may be',
      { 'src/wire/a.ts': `import { m } from '../model/index.js'` },
      `src/wire/a.ts: wire may import only types of model ('../model/index.js')`,
    ],
    [
      'a screen that is loaded before it is asked for',
      { 'src/cli/a.ts': `import { m } from '../tui/index.js'` },
      `src/cli/a.ts: cli may import tui only lazily ('../tui/index.js')`,
    ],
    [
      'the public surface imported from inside',
      { 'src/cli/a.ts': `import { m } from '../index.js'` },
      `src/cli/a.ts: '../index.js' is for users of the library, import the folder that has it`,
    ],
    [
      'a module of Node in a pure folder',
      { 'src/wire/a.ts': `import { Buffer } from 'node:buffer'` },
      `src/wire/a.ts: wire is pure and may not import 'node:buffer'`,
    ],
    [
      'a module of Node without its prefix',
      { 'src/wire/a.ts': `import type { Stats } from 'fs/promises'` },
      `src/wire/a.ts: wire is pure and may not import 'fs/promises'`,
    ],
    [
      'a package in a pure folder',
      { 'src/wire/a.ts': `import { Command } from 'commander'` },
      `src/wire/a.ts: wire is pure and may not import 'commander'`,
    ],
    [
      'a package that a user would not have',
      { 'src/cli/a.ts': `import { x } from '@scope/pkg/deep'` },
      `src/cli/a.ts: '@scope/pkg/deep' is not among the dependencies of package.json`,
    ],
    [
      'an import of something computed',
      { 'src/cli/a.ts': `await import(name)` },
      `src/cli/a.ts: import(…) of something computed cannot be checked`,
    ],
    [
      'an import from outside src',
      { 'src/cli/a.ts': `import { x } from '../../test/x.js'` },
      `src/cli/a.ts: '../../test/x.js' is outside src`,
    ],
    [
      'a folder that is not in the table',
      { 'src/utils/a.ts': `export const x = 1` },
      `src/utils/a.ts: utils is not in the import table`,
    ],
    [
      'a loose file in src',
      { 'src/a.ts': `export const x = 1` },
      `src/a.ts: only index.ts lives directly in src`,
    ],
    [
      'a file that is too long',
      { 'src/model/a.ts': '\n'.repeat(longestFile + 1) },
      `src/model/a.ts: ${longestFile + 1} lines, at most ${longestFile}`,
    ],
    [
      'the viewer taking what is not pure',
      { 'viewer/a.tsx': `import { x } from '../src/tape/index.js'` },
      `viewer/a.tsx: viewer may not import tape ('../src/tape/index.js')`,
    ],
    [
      'the viewer going past a door',
      { 'viewer/panes/a.ts': `import { x } from '../../src/model/fold.js'` },
      `viewer/panes/a.ts: '../../src/model/fold.js' goes past the door of model, import its index.js`,
    ],
  ])('sees %s', (_, files, expected) => {
    expect(check(files)).toEqual([expected])
  })
})

/** Circular imports of files, value or type, one line per circle. Lazy imports do not count. */
function circles(root: string, folder: string): string[] {
  const files = new Set(sourcesIn(root, folder))
  const graph = new Map<string, string[]>()
  for (const file of files) {
    const found = referencesIn(readFileSync(join(root, file), 'utf8')).flatMap(({ to, how }) => {
      if (to === undefined || !to.startsWith('.') || how === 'dynamic' || how === 'url') return []
      const target = posix.join(posix.dirname(file), to)
      return [target.replace(/\.js$/, '.ts'), target.replace(/\.js$/, '.tsx')].filter((path) =>
        files.has(path),
      )
    })
    graph.set(file, found)
  }
  // A file without remaining imports, or that no remaining file imports, is in no circle.
  for (let size = Infinity; graph.size < size;) {
    size = graph.size
    const imported = new Set([...graph.values()].flat())
    for (const [file, found] of graph) {
      const left = found.filter((path) => graph.has(path))
      if (left.length === 0 || !imported.has(file)) graph.delete(file)
      else graph.set(file, left)
    }
  }
  return [...graph].map(([file, found]) => `${file}: ${found.join(', ')}`).toSorted()
}

/** Violations of the table below `root`, one line each. */
function violations(root: string): string[] {
  const manifest: {
    dependencies?: Record<string, string>
    peerDependencies?: Record<string, string>
  } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const dependencies = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }))
  return [...sourcesIn(root, 'src'), ...sourcesIn(root, 'viewer')].flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    const found: string[] = []
    const inSrc = file.startsWith('src/')
    const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
    if (inSrc && lines > longestFile) found.push(`${lines} lines, at most ${longestFile}`)

    const folder = inSrc ? folderOf(file) : 'viewer'
    const rule = inSrc ? table[folder] : viewerRule
    if (folder === '' && file !== 'src/index.ts') found.push('only index.ts lives directly in src')
    else if (folder !== '' && rule === undefined) found.push(`${folder} is not in the import table`)
    else
      for (const reference of referencesIn(text))
        found.push(...judge(file, folder, rule, reference, dependencies))
    return found.map((what) => `${file}: ${what}`)
  })
}

/** Violations by one reference. `rule` is undefined for src/index.ts, which may import every door. */
function judge(
  file: string,
  folder: string,
  rule: Rule | undefined,
  { to, how }: Reference,
  dependencies: ReadonlySet<string>,
): string[] {
  if (to === undefined) return ['import(…) of something computed cannot be checked']
  if (!to.startsWith('.')) return how === 'url' ? [] : judgePackage(folder, rule, to, dependencies)

  const target = posix.join(posix.dirname(file), to)
  const isCode = /\.[cm]?[jt]sx?$/.test(target)
  if (how === 'url' && !isCode) return []
  if (folder === 'viewer' && !target.startsWith('../') && !target.startsWith('src/')) return []
  if (!target.startsWith('src/')) return [`'${to}' is outside src`]
  const other = folderOf(target)
  if (other === folder && folder !== '') return []
  if (other === '') return [`'${to}' is for users of the library, import the folder that has it`]

  if (rule !== undefined) {
    const wrong = judgeFolder(folder, rule, other, how)
    if (wrong !== undefined) return [`${wrong} ('${to}')`]
  }
  if (target !== `src/${other}/index.js`)
    return [`'${to}' goes past the door of ${other}, import its index.js`]
  return []
}

function judgeFolder(folder: string, rule: Rule, other: string, how: How): string | undefined {
  if (rule.imports.includes(other)) return undefined
  if (rule.types?.includes(other))
    return how === 'type' ? undefined : `${folder} may import only types of ${other}`
  if (rule.lazily?.includes(other)) {
    return how === 'static' ? `${folder} may import ${other} only lazily` : undefined
  }
  return `${folder} may not import ${other}`
}

function judgePackage(
  folder: string,
  rule: Rule | undefined,
  to: string,
  dependencies: ReadonlySet<string>,
): string[] {
  const builtin = isBuiltin(to)
  const name = to.split('/', to.startsWith('@') ? 2 : 1).join('/')
  if (rule?.pure && (builtin || !purePackages.has(name)))
    return [`${folder} is pure and may not import '${to}'`]
  // The viewer is bundled, so its packages are not dependencies of users.
  if (builtin || folder === 'viewer' || dependencies.has(name)) return []
  return [`'${to}' is not among the dependencies of package.json`]
}

/** `src/wire/sse/parser.ts` -> `wire`; `src/index.ts` -> ``. */
function folderOf(path: string): string {
  const parts = path.split('/')
  return parts.length > 2 ? (parts[1] ?? '') : ''
}

/** TypeScript files below a folder, as paths from `root` with forward slashes. */
function sourcesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`
      if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : sourcesIn(root, path)
      return /\.[cm]?tsx?$/.test(entry.name) ? [path] : []
    })
    .toSorted()
}

type How = 'static' | 'type' | 'dynamic' | 'url'
/** `to` is undefined for a computed path. */
interface Reference {
  readonly to: string | undefined
  readonly how: How
}

/** Everything that a file imports, re-exports, or starts by its URL. */
function referencesIn(text: string): Reference[] {
  const tokens = tokensOf(text)
  const is = (at: number, ...words: string[]): boolean =>
    words.every((word, i) => tokens[at + i]?.kind === 'word' && tokens[at + i]?.text === word)
  const stringAt = (at: number): string | undefined =>
    tokens[at]?.kind === 'string' ? tokens[at]?.text : undefined
  /** The string after the next `from`, if the tokens before it can be names of an import. */
  const fromAfter = (at: number): string | undefined => {
    for (let i = at; i < tokens.length; i++) {
      if (is(i, 'from') && stringAt(i + 1) !== undefined) return stringAt(i + 1)
      const token = tokens[i]
      if (token?.kind === 'word' && !/^(?:[\p{ID_Start}_$][\p{ID_Continue}$]*|[{},*])$/u.test(token.text))
        return undefined
      if (is(i, '}') && !is(i + 1, 'from')) return undefined
    }
    return undefined
  }

  return tokens.flatMap<Reference>((_, at) => {
    if (is(at - 1, '.')) return []
    if (is(at, 'import', '(')) return [{ to: stringAt(at + 2), how: 'dynamic' }]
    if (
      is(at, 'new', 'URL', '(') &&
      tokens[at + 3]?.kind === 'string' &&
      is(at + 4, ',', 'import', '.', 'meta')
    ) {
      return [{ to: stringAt(at + 3), how: 'url' }]
    }
    if (is(at, 'import')) {
      const to = stringAt(at + 1) ?? fromAfter(at + 1)
      // `import type from './a.js'` imports a value called type.
      const how = is(at + 1, 'type') && !is(at + 2, 'from') ? 'type' : 'static'
      return to === undefined ? [] : [{ to, how }]
    }
    if (is(at, 'export')) {
      const how = is(at + 1, 'type') ? 'type' : 'static'
      const names = how === 'type' ? at + 2 : at + 1
      if (!is(names, '{') && !is(names, '*')) return []
      const to = fromAfter(names)
      return to === undefined ? [] : [{ to, how }]
    }
    return []
  })
}

/** A `word` is a name, a number or one punctuation character; comments and blanks are left out. */
interface Token {
  readonly kind: 'word' | 'string' | 'template' | 'regex'
  readonly text: string
}

/** Enough of the grammar to tell code from comments, strings, templates and regular expressions. */
function tokensOf(text: string): Token[] {
  const pattern =
    /(?<blank>\s+|\/\/.*|\/\*[^]*?\*\/|^#!.*)|(?<string>'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*")|(?<name>[\p{ID_Start}_$#@\d][\p{ID_Continue}$\u200c\u200d]*)|(?<regex>\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*)|(?<template>[`}](?:\\[^]|\$(?!\{)|[^`\\$])*(?<ends>`|\$\{))|[^]/uy
  const tokens: Token[] = []
  /** For each open brace: whether it was opened by `${` and closes back into a template. */
  const braces: boolean[] = []
  while (pattern.lastIndex < text.length) {
    const start = pattern.lastIndex
    const match = pattern.exec(text)
    if (match === null) break
    const { blank, string, name, regex, template, ends } = match.groups ?? {}
    const last = tokens.at(-1)
    if (blank !== undefined) continue
    if (string !== undefined) tokens.push({ kind: 'string', text: string.slice(1, -1) })
    else if (name !== undefined) tokens.push({ kind: 'word', text: name })
    else if (regex !== undefined && regexMayFollow(last)) tokens.push({ kind: 'regex', text: regex })
    else if (template !== undefined && (template.startsWith('`') || braces.at(-1) === true)) {
      if (template.startsWith('}')) braces.pop()
      if (ends === '${') braces.push(true)
      const whole = template.startsWith('`') && ends === '`'
      tokens.push({ kind: whole ? 'string' : 'template', text: template.slice(1, whole ? -1 : undefined) })
    } else {
      const char = text[start] ?? ''
      pattern.lastIndex = start + 1
      if (char === '{') braces.push(false)
      if (char === '}') braces.pop()
      tokens.push({ kind: 'word', text: char })
    }
  }
  return tokens
}

/** Whether a slash after this token begins a regular expression; otherwise it divides. */
function regexMayFollow(last: Token | undefined): boolean {
  if (last === undefined) return true
  if (last.kind !== 'word') return last.kind === 'template' && last.text.endsWith('${')
  if (/^(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await|yield)$/.test(last.text)) return true
  return !/^[\p{ID_Continue}$#@)\]}]/u.test(last.text)
}
