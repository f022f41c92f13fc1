import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { createReplayStage, opening, type ReplayStage } from '../behaviour/replay-stage.js'
import { server } from '../behaviour/stage.js'

const schema = readFileSync(join(import.meta.dirname, '../fixtures/reports/junit.xsd'), 'utf8')
const release = (...changes: string[]): string[] => server('release.mjs', ...changes)
const search = {
  id: 1,
  method: 'tools/call',
  params: { name: 'search', arguments: { query: 'x' } },
}

let stage: ReplayStage
beforeAll(async () => {
  stage = createReplayStage()
  await stage.record('base.jsonl', { messages: [...opening, search] }, release())
  await stage.record('changed.jsonl', { messages: [...opening, search] }, release('drop-field'))
  const odd = { ...search, params: { ...search.params, name: '<&"\u0001\u{1f600}]]>' } }
  await stage.record('odd.jsonl', { messages: [...opening, odd] }, release())
})
afterAll(() => stage.close())

async function faultsIn(name: string): Promise<string[]> {
  const contents = readFileSync(stage.path(name), 'utf8')
  const { errors } = await validateXML({ xml: [{ fileName: name, contents }], schema: [schema] })
  return errors.map(({ message }) => message)
}

it.each([
  ['of the same server', ['base.jsonl'], release()],
  ['of a server that changed', ['base.jsonl', '--repeat', '2'], release('drop-field')],
  ['that was stopped', ['base.jsonl'], release('refuse')],
  ['of text that XML cannot hold', ['odd.jsonl'], release('fail')],
])('the JUnit report of a replay %s is what Jenkins takes', async (_what, args, command) => {
  const [file, ...options] = args
  await stage.run('replay', file!, ...options, '--report', 'junit=r.xml', '--', ...command)
  expect(await faultsIn('r.xml')).toEqual([])
})

it('the JUnit report of a comparison is what Jenkins takes', async () => {
  await stage.run('diff', 'base.jsonl', 'changed.jsonl', '--report', 'junit=d.xml')
  expect(await faultsIn('d.xml')).toEqual([])
  await stage.run('diff', 'base.jsonl', 'odd.jsonl', '--report', 'junit=o.xml')
  expect(await faultsIn('o.xml')).toEqual([])
})

it('a report that Jenkins does not take is found out', async () => {
  const wrong = '<testsuites tests="0" failures="0" errors="0" skipped="0"></testsuites>'
  const { valid } = await validateXML({ xml: [{ fileName: 'wrong.xml', contents: wrong }], schema: [schema] })
  expect(valid).toBe(false)
})
