// @ts-check
import { spawnSync } from 'node:child_process'

/**
 * Runs the program as it is installed, to its end.
 *
 * @param {string} cli
 * @param {NodeJS.ProcessEnv} env
 * @param {string} cwd
 * @returns {(...args: string[]) => import('node:child_process').SpawnSyncReturns<string>}
 */
export function installed(cli, env, cwd) {
  return (...args) =>
    spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8', env, cwd, maxBuffer: 1 << 28 })
}
