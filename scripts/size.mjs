#!/usr/bin/env node
/** Measures the disk space of `npm i wiretape`. Fails above the promised size. */
import { spawnSync } from 'node:child_process'
import { lstatSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ToolFailed, ensureBuilt, ensureInstalled, projectRoot } from './bootstrap.mjs'

const promisedMb = 30

const temp = mkdtempSync(join(tmpdir(), 'wiretape-size-'))
try {
  ensureInstalled()
  ensureBuilt()
  npm(projectRoot, ['pack', '--silent', '--pack-destination', temp])
  const tarball = readdirSync(temp).find((name) => name.endsWith('.tgz'))
  if (tarball === undefined) throw new Error('npm pack wrote no tarball')
  writeFileSync(join(temp, 'package.json'), '{"name":"a-user","private":true}\n')
  npm(temp, ['i', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error', `./${tarball}`])

  const packages = listPackages(join(temp, 'node_modules'))
    .map(({ name, folder }) => ({ name, bytes: bytesOf(folder, true) }))
    .toSorted((a, b) => b.bytes - a.bytes)
  const total = bytesOf(join(temp, 'node_modules'), false)
  const ours = lstatSync(join(temp, tarball)).size
  console.log(`${mb(total)} MB in ${packages.length} packages (the tarball alone: ${mb(ours)} MB)`)
  for (const { name, bytes } of packages.slice(0, 5)) console.log(`${mb(bytes).padStart(8)} MB  ${name}`)
  if (total > promisedMb * 1e6) {
    console.error(`too large: ${mb(total)} MB, promised are at most ${promisedMb} MB`)
    process.exitCode = 1
  }
} catch (error) {
  if (!(error instanceof ToolFailed)) throw error
  console.error(error.message)
  process.exitCode = error.exitCode
} finally {
  rmSync(temp, { recursive: true, force: true })
}

/** Every installed package, nested ones too. @param {string} modules @returns {{name: string, folder: string}[]} */
function listPackages(modules) {
  return foldersIn(modules).flatMap((name) => {
    const names = name.startsWith('@')
      ? foldersIn(join(modules, name)).map((inner) => `${name}/${inner}`)
      : [name]
    return names.flatMap((full) => {
      const folder = join(modules, full)
      return [{ name: full, folder }, ...listPackages(join(folder, 'node_modules'))]
    })
  })
}

/** @param {string} folder */
function foldersIn(folder) {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((e) => e.isDirectory() && !e.name.startsWith('.')).map((e) => e.name)
  } catch {
    return []
  }
}

/** @param {string} folder @param {boolean} own Without the packages nested inside. @returns {number} */
function bytesOf(folder, own) {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (!entry.isDirectory()) bytes += lstatSync(path).size
    else if (!own || entry.name !== 'node_modules') bytes += bytesOf(path, own)
  }
  return bytes
}

/** @param {number} bytes */
function mb(bytes) {
  return (bytes / 1e6).toFixed(2)
}

/** @param {string} cwd @param {string[]} args */
function npm(cwd, args) {
  const shell = process.platform === 'win32'
  // npm's own output (a file name, "added 5 packages") is not shown.
  const { status, stdout } = spawnSync('npm', args, {
    cwd,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    shell,
  })
  if (status === 0) return
  if (stdout) console.error(stdout)
  throw new ToolFailed(`npm ${args.join(' ')}`, status ?? 1)
}
