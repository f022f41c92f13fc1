// @ts-check
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './books.mjs'

const duckdb = '@duckdb/node-api@1.5.6-r.1'

/** Installs wiretape and DuckDB beside each other. Returns the path of the program. @param {string} folder */
export function installWithDuckDb(folder) {
  const app = join(folder, 'app')
  mkdirSync(app)
  writeFileSync(join(app, 'package.json'), '{"private":true}')
  npm(root, 'pack', '--silent', '--ignore-scripts', '--pack-destination', app)
  const packed = readdirSync(app).find((name) => name.endsWith('.tgz'))
  npm(app, 'install', '--silent', '--no-audit', '--no-fund', join(app, `${packed}`), duckdb)
  return join(app, 'node_modules/wiretape/dist/bin/wiretape.js')
}

/**
 * Grows the index of a store to `days` days: adds copies of it, each a day later and with other session ids.
 *
 * @param {string} cli
 * @param {string} store
 * @param {number} days
 */
export async function growIndex(cli, store, days) {
  const { DuckDBInstance } = await import(
    pathToFileURL(join(dirname(cli), '../../../@duckdb/node-api/lib/index.js')).href
  )
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  const commits = readdirSync(join(store, 'index/batches'))
  for (let day = 1; day < days; day += 1)
    for (const name of commits) {
      const commit = JSON.parse(readFileSync(join(store, 'index/batches', name), 'utf8'))
      const renamed = (/** @type {string} */ hash) => `${day}`.padStart(4, '0') + hash.slice(4)
      const copied = `* replace (lpad('${day}', 4, '0') || substr(segment, 5) as segment, session || '-${day}' as session`
      const batch = `${commit.batch}-${day}`
      for (const file of commit.files) {
        const date = new Date(Date.parse(file.day) + day * 86_400_000).toISOString().slice(0, 10)
        const key = file.key.replace(file.day, date).replace(commit.batch, batch)
        mkdirSync(dirname(join(store, key)), { recursive: true })
        await connection.run(
          `copy (select ${copied}, time_ms + ${day * 86_400_000} as time_ms) from '${join(store, file.key)}') to '${join(store, key)}' (compression snappy)`,
        )
        Object.assign(file, { key, day: date })
      }
      const sessions = commit.sessions.key.replace(commit.batch, batch)
      await connection.run(
        `copy (select ${copied}) from '${join(store, commit.sessions.key)}') to '${join(store, sessions)}' (compression snappy)`,
      )
      commit.sessions.key = sessions
      commit.segments = commit.segments.map((/** @type {{ hash: string }} */ segment) => ({
        ...segment,
        hash: renamed(segment.hash),
      }))
      writeFileSync(join(store, `index/batches/${batch}.json`), JSON.stringify({ ...commit, batch }))
    }
  connection.closeSync()
  instance.closeSync()
}

/** @param {string} cwd @param {string[]} args */
function npm(cwd, ...args) {
  const { status, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}`)
}
