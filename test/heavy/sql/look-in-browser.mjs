// @ts-check
/** Requests of the page of `wiretape ui --at`: sessions of the store, their bytes, and rows of queries. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'

/**
 * @param {{
 *   address: string, cli: string, env: NodeJS.ProcessEnv, meant: Map<string, string[]>, long: string, reads: () => string[],
 *   holds: (what: string, is: boolean) => void,
 * }} given
 */
export async function lookInBrowser({ address, cli, env, meant, long, reads, holds }) {
  const child = spawn(process.execPath, [cli, 'ui', '--no-open', '--at', address], { env })
  let printed = ''
  child.stdout.on('data', (chunk) => (printed += chunk))
  child.stderr.on('data', (chunk) => (printed += chunk))
  try {
    while (!printed.includes('Ctrl+C') && child.exitCode === null)
      await new Promise((done) => child.stdout.once('data', done))
    const [, at = '', code = ''] = /(http:\S+)#once=(\S+)/.exec(printed) ?? []
    const { token } = await jsonOf(fetch(`${at}api/token`, { headers: { authorization: `Once ${code}` } }))
    const authorization = `Bearer ${token}`
    const origin = at.replace(/\/$/, '')
    const listed = await jsonOf(fetch(`${at}api/recordings`, { headers: { authorization } }))
    holds(
      'ui: sessions of the store are listed',
      listed.length === meant.size && listed.every((/** @type {any} */ { host }) => typeof host === 'string'),
    )
    const one = listed.find((/** @type {any} */ { label }) => label === 'long')
    reads()
    const response = await fetch(`${at}api/recordings/${one?.id}/0`, { headers: { authorization } })
    const bytes = Buffer.from(await response.arrayBuffer())
    const ranges = reads()
    holds('ui: a session is the tape', createHash('sha256').update(bytes).digest('hex') === long)
    holds('ui: it is read by range', ranges.length > 0 && ranges.every((range) => range.startsWith('bytes=')))

    const headers = { authorization, origin, 'x-wiretape-act': '1', 'content-type': 'application/json' }
    const ask = (/** @type {string} */ query, more = {}) =>
      fetch(`${at}api/sql`, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ query }),
      })
    const rows = await jsonOf(
      ask(`select recording, seq, payload from messages where recording = '${long}' order by seq limit 3`),
    )
    holds(
      'ui: rows of a query lead to their messages',
      rows.rows?.length === 3 &&
        rows.rows[2].message.id === one?.id &&
        rows.rows[2].message.seq === 2 &&
        rows.rows[2].values[2] === meant.get(long)?.[2] &&
        rows.csv.startsWith('recording,seq,payload\r\n'),
    )
    const many = await jsonOf(ask('select seq from messages'))
    holds('ui: a page gets a part of many rows', many.rows?.length === 2_000 && many.isCut === true)
    for (const query of [
      "select * from read_text('/etc/passwd')",
      "copy messages to '/tmp/x.csv'",
      'install httpfs',
    ]) {
      const refused = await ask(query)
      const why = await refused.text()
      holds(`ui: refused: ${query}`, refused.status === 400 && why.startsWith('the query failed'))
    }
    for (const more of [
      { 'x-wiretape-act': '' },
      { origin: 'http://evil.example' },
      { authorization: 'Bearer x' },
    ])
      holds(`ui: refused with ${JSON.stringify(more)}`, (await ask('select 1', more)).status === 403)
  } finally {
    child.kill('SIGTERM')
    await new Promise((done) => (child.exitCode === null ? child.once('exit', done) : done(undefined)))
  }
}

/** @param {Promise<Response>} answer @returns {Promise<any>} */
async function jsonOf(answer) {
  return (await answer).json()
}
