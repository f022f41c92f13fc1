// @ts-check
/** Installs the tested programs: packages of their own, and a Node that is new enough for them. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureBuilt, ensureInstalled, projectRoot, ToolFailed } from '../../scripts/bootstrap.mjs'

const neededMajor = 22
const here = import.meta.dirname

/**
 * @typedef {object} Tools
 * @property {string} node A Node that runs the packages.
 * @property {string} cli The built command line of wiretape.
 * @property {(name: string) => string} packageFile A file of the packages.
 */

/** Installs what is missing. @returns {Tools} */
export function installTools() {
  ensureInstalled()
  ensureBuilt()
  ensureInstalled(here)
  return {
    node: modernNode(),
    cli: join(projectRoot, 'dist/bin/wiretape.js'),
    packageFile: (name) => resolve(here, 'node_modules', name),
  }
}

/** The running Node, or another one from the folder of .ci/run. */
function modernNode() {
  if (Number(process.versions.node.split('.')[0]) >= neededMajor) return process.execPath
  const folder = join(projectRoot, 'build/nodes', String(neededMajor))
  const binary = join(folder, 'bin/node')
  if (existsSync(binary)) return binary
  const name = `node-linux-${process.arch}`
  const made = `${folder}.new`
  for (const old of [folder, made]) rmSync(old, { recursive: true, force: true })
  mkdirSync(join(made, 'bin'), { recursive: true })
  const options = ['--silent', '--no-save', '--no-package-lock', '--prefix', made]
  const { status } = spawnSync('npm', ['install', ...options, `${name}@${neededMajor}`], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (status !== 0) throw new ToolFailed(`npm install ${name}@${neededMajor}`, status ?? 1)
  symlinkSync(`../node_modules/${name}/bin/node`, join(made, 'bin/node'))
  renameSync(made, folder)
  return binary
}
