#!/usr/bin/env node
/**
 * Makes a checkout ready to run. Installs packages when package-lock.json differs from the installed ones, and compiles
 * when a source has changed. Prints nothing when both are up to date. Uses only Node's own modules, because a fresh
 * clone has no others.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Environment variable of the tools that this script starts. */
const runningMark = 'WIRETAPE_BOOTSTRAP'

/** The project's folder. */
export const projectRoot = resolve(import.meta.dirname, '..')

/** A tool failed; it has already printed the reason. */
export class ToolFailed extends Error {
  /**
   * @param {string} tool
   * @param {number} exitCode
   */
  constructor(tool, exitCode) {
    super(`${tool} failed with exit code ${exitCode}`)
    this.name = 'ToolFailed'
    this.exitCode = exitCode
  }
}

/**
 * Installs the packages of package-lock.json unless exactly those are installed.
 *
 * @param {string} [root] The project's folder.
 * @returns {boolean} Whether it installed anything.
 */
export function ensureInstalled(root = projectRoot) {
  const lockText = readFileSync(join(root, 'package-lock.json'), 'utf8')
  const stamp = join(root, 'node_modules/.wiretape-lock-hash')
  // Some packages contain a native file for one platform. So a folder copied from another platform counts as not
  // installed.
  const wanted = sha256(`${process.platform} ${process.arch}\n${lockText}`)
  if (readIfThere(stamp) === wanted) return false
  if (installedAsLocked(root, lockText)) {
    writeFileSync(stamp, wanted)
    return false
  }
  console.log('installing…')
  // Builds and tests need the development packages, so NODE_ENV is overridden.
  run(root, 'npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
  writeFileSync(stamp, wanted)
  return true
}

/**
 * Compiles src to dist and bundles the program, unless dist is up to date.
 *
 * @param {string} [root] The project's folder.
 * @returns {boolean} Whether it compiled anything.
 */
export function ensureBuilt(root = projectRoot) {
  const program = ensureProgram(root)
  return ensureViewer(root) || program
}

/**
 * Builds the web viewer into dist/viewer, unless its sources are unchanged.
 *
 * @param {string} root
 */
function ensureViewer(root) {
  if (!existsSync(join(root, 'viewer/main.tsx'))) return false
  const stamp = join(root, 'build/.built-viewer')
  const now = fingerprintOf(root, [
    'viewer',
    ...[
      'model',
      'wire',
      'formats',
      'redaction',
      'filter',
      'findings',
      'compare',
      'render',
      'control-schema',
      'json-path',
    ].map((folder) => `src/${folder}`),
  ])
  const missing = [
    'index.html',
    'viewer.js',
    'viewer.css',
    'patterns.js',
    'views.js',
    '../acting/acting.js',
  ].some((file) => !existsSync(join(root, 'dist/viewer', file)))
  if (!missing && readIfThere(stamp) === now) return false
  console.log('building the viewer…')
  rmSync(stamp, { force: true })
  run(root, process.execPath, [join(import.meta.dirname, 'build-viewer.mjs'), root])
  writeFileSync(stamp, now)
  return true
}

/** @param {string} root */
function ensureProgram(root) {
  const stamp = join(root, 'build/.built')
  const sources = listFiles(join(root, 'src')).filter((file) => /(?<!\.d)\.tsx?$/.test(file))
  const expected = sources.map((file) => join('dist', file.replace(/\.tsx?$/, '.js')))
  const missing = [...expected, 'dist/bin/wiretape.js', 'dist/bin/messages.wasm'].some(
    (file) => !existsSync(join(root, file)),
  )
  const orphans = removeOrphans(root, new Set(sources))
  // Computed before compiling: a file that changes during the build gives another fingerprint the next time.
  const now = fingerprint(root)
  if (!missing && !orphans && readIfThere(stamp) === now) return false

  console.log('building…')
  rmSync(stamp, { force: true })
  // The compiler writes only the files that changed since its build information. If output files are missing, that
  // information is wrong.
  if (missing) rmSync(join(root, 'build/tsconfig.tsbuildinfo'), { force: true })
  run(root, process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json'])
  if (existsSync(join(root, 'dist/cli/main.js')))
    run(root, process.execPath, [join(import.meta.dirname, 'bundle.mjs'), root])
  mkdirSync(join(root, 'build'), { recursive: true })
  writeFileSync(stamp, now)
  return true
}

/** Hash of everything that decides the compiler's output. @param {string} root */
function fingerprint(root) {
  return fingerprintOf(root, ['src', 'wasm'])
}

/** Hash of the files below these folders and of their build script. @param {string} root @param {string[]} folders */
function fingerprintOf(root, folders) {
  const inputs = [
    ...folders.flatMap((folder) => listFiles(join(root, folder)).map((file) => join(folder, file))),
    ...readdirSync(root).filter((name) => /^tsconfig.*\.json$/.test(name)),
    'package.json',
    'package-lock.json',
    'scripts/bundle.mjs',
    ...(existsSync(join(root, 'scripts/build-viewer.mjs')) ? ['scripts/build-viewer.mjs'] : []),
  ]
  const lines = inputs.toSorted().map((file) => {
    const { mtimeMs, size } = statSync(join(root, file))
    return `${file} ${size} ${mtimeMs}`
  })
  return sha256(lines.join('\n'))
}

/**
 * Removes files from dist that no source produces any more.
 *
 * @param {string} root
 * @param {Set<string>} sources Relative to src.
 * @returns {boolean} Whether it removed any.
 */
function removeOrphans(root, sources) {
  const dist = join(root, 'dist')
  const orphans = listFiles(dist).filter((file) => {
    // The compiler does not write these folders.
    if (/^(?:acting|bin|viewer)[\\/]/.test(file)) return false
    const stem = file.replace(/(\.d)?\.(js|ts)(\.map)?$/, '')
    return stem !== file && !sources.has(`${stem}.ts`) && !sources.has(`${stem}.tsx`)
  })
  for (const file of orphans) {
    rmSync(join(dist, file))
    try {
      rmdirSync(resolve(dist, file, '..'))
    } catch {
      // The folder is not empty.
    }
  }
  return orphans.length > 0
}

/**
 * npm's own note of the installed packages. If it agrees with the lock file, the packages were installed already, for
 * example by `npm install`.
 *
 * @param {string} root
 * @param {string} lockText
 */
function installedAsLocked(root, lockText) {
  const note = readIfThere(join(root, 'node_modules/.package-lock.json'))
  if (note === undefined) return false
  try {
    /** @typedef {{version?: string, integrity?: string, optional?: boolean}} Entry */
    /** @type {Record<string, Entry>} */
    const have = JSON.parse(note).packages
    /** @type {Record<string, Entry>} */
    const want = JSON.parse(lockText).packages
    const places = Object.keys(want).filter((place) => place !== '')
    if (Object.keys(have).some((place) => want[place] === undefined)) return false
    return places.every((place) => {
      const [wanted, got] = [want[place], have[place]]
      // npm leaves out optional packages that do not fit this platform.
      if (got === undefined) return wanted?.optional === true
      const same = wanted?.version === got.version && wanted?.integrity === got.integrity
      return same && existsSync(join(root, place, 'package.json'))
    })
  } catch {
    return false
  }
}

/** Runs a tool with our stdout and stderr. @param {string} root @param {string} tool @param {string[]} args */
function run(root, tool, args) {
  const shell = process.platform === 'win32' && tool === 'npm'
  const { status, signal, error } = spawnSync(tool, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    shell,
    env: ownEnvironment(),
  })
  if (error) console.error(`cannot start ${tool}: ${error.message}`)
  if (status !== 0)
    throw new ToolFailed(`${tool} ${args.join(' ')}`, status ?? (signal === 'SIGINT' ? 130 : 1))
}

/**
 * The environment without the settings of an npm that runs this script: `npm install --global .` runs `prepare`, and
 * `npm ci` refuses to be global. The mark keeps that `npm ci` from running this script again.
 */
function ownEnvironment() {
  const isOfCaller = (/** @type {string} */ name) => /^npm_config_(?:global|location|prefix)$/i.test(name)
  const kept = Object.entries(process.env).filter(([name]) => !isOfCaller(name))
  return { ...Object.fromEntries(kept), [runningMark]: '1' }
}

/** Files below a folder, relative to it; none when there is no such folder. @param {string} folder */
function listFiles(folder) {
  if (!existsSync(folder)) return []
  const found = []
  const waiting = ['']
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of readdirSync(join(folder, at), { withFileTypes: true })) {
      const path = join(at, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else found.push(path)
    }
  }
  return found
}

/** @param {string} file */
function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** @param {string} text */
function sha256(text) {
  return createHash('sha256').update(text).digest('hex')
}

const isInner = process.env[runningMark] !== undefined
if (
  !isInner &&
  process.argv[1] !== undefined &&
  realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
) {
  try {
    ensureInstalled()
    ensureBuilt()
  } catch (error) {
    if (!(error instanceof ToolFailed)) throw error
    process.exitCode = error.exitCode
  }
}
