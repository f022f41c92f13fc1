// @ts-check
/** The results of the conformance suite, check by check. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * @typedef {object} Check
 * @property {string} scenario
 * @property {string} name Of the check, told apart from others of the same name in its scenario.
 * @property {string} status
 * @property {string} why
 */

/**
 * Reads the results that a run left in its `--output-dir`.
 *
 * @param {string} folder
 * @returns {Check[]}
 */
export function readChecks(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => basename(path) === 'checks.json')
    .toSorted()
    .flatMap((path) => {
      // Names of scenarios may have a slash.
      const name = dirname(path)
      const scenario = name.replace(/^(server|client)-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '')
      /** @type {{ id: string, name: string, status: string, errorMessage?: string }[]} */
      const found = JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8'))
      /** @type {Map<string, number>} */
      const times = new Map()
      return found.map((check) => {
        const title = check.id === check.name ? check.id : `${check.id} (${check.name})`
        const nth = (times.get(title) ?? 0) + 1
        times.set(title, nth)
        const why = (check.errorMessage ?? '').replaceAll(
          /https?:\/\/(localhost|127\.0\.0\.1):\d+/g,
          'http://…',
        )
        return { scenario, name: nth === 1 ? title : `${title} #${nth}`, status: check.status, why }
      })
    })
}

/**
 * The differing checks, a line each.
 *
 * @param {readonly Check[]} direct
 * @param {readonly Check[]} through
 */
export function differences(direct, through) {
  const keyOf = (/** @type {Check} */ { scenario, name }) => `${scenario}: ${name}`
  const wordsOf = (/** @type {Check | undefined} */ check) =>
    check ? `${check.status}${check.why && ` (${check.why})`}` : 'not there'
  const [before, after] = [direct, through].map(
    (checks) => new Map(checks.map((check) => [keyOf(check), check])),
  )
  const keys = new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])
  return [...keys].flatMap((key) => {
    const [without, withUs] = [wordsOf(before?.get(key)), wordsOf(after?.get(key))]
    return without === withUs ? [] : [`${key}\n    direct:  ${without}\n    through: ${withUs}`]
  })
}

/** Number of checks of each status. @param {readonly Check[]} checks */
export function countsOf(checks) {
  const count = (/** @type {string} */ status) => checks.filter((check) => check.status === status).length
  return `${count('SUCCESS')} passed, ${count('FAILURE')} failed, ${count('WARNING')} warnings, ${count('SKIPPED')} skipped`
}
