import { expect, it } from 'vitest'
import { modern, post, useHttpStage } from '../behaviour/http-stage.js'
import { cli, printed } from '../behaviour/stage.js'

const stage = useHttpStage()

const { version, _meta } = modern
/** Answers each request with the error that it names as its tool. */
const refusing = `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line)
  const error = { code: Number(params.name), message: 'as asked' }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, error }))
})`
const expected = [
  [-32601, 404],
  [-32602, 200],
  [-32603, 200],
  [-32020, 400],
  [-32021, 400],
  [-32022, 400],
  [-32002, 200],
]

/** The last has no capabilities in its `_meta`. */
const lacking = [-32602, 400]

async function statuses(url: string): Promise<unknown[]> {
  const got: unknown[] = []
  for (const [code, status] of [...expected, lacking]) {
    const headers = {
      'mcp-protocol-version': version,
      'mcp-method': 'tools/call',
      'mcp-name': String(code),
      accept: 'application/json',
    }
    const partial = { ..._meta, 'io.modelcontextprotocol/clientCapabilities': undefined }
    const params = {
      _meta: code === -32602 && status === 400 ? partial : _meta,
      name: String(code),
      arguments: {},
    }
    const { status: came, text } = await post(url, { id: 1, method: 'tools/call', params }, headers)
    expect(JSON.parse(text)).toMatchObject({ id: 1, error: { code } })
    got.push([code, came])
  }
  return got
}

it('errors of 2026-07-28 have the same HTTP status from a bridge and from a mock of what it recorded', async () => {
  const recorder = stage.start([
    ...stage.recordWith('--listen', '127.0.0.1:0'),
    '--',
    process.execPath,
    '-e',
    refusing,
  ])
  await printed(recorder, '\n')
  expect(await statuses(recorder.stdout().toString().trim())).toEqual([...expected, lacking])
  recorder.child.kill('SIGTERM')
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  const mock = stage.start([process.execPath, cli, 'mock', stage.tape(), '--listen', '127.0.0.1:0'])
  await printed(mock, '\n')
  expect(await statuses(mock.stdout().toString().split('\n')[0]!.trim())).toEqual([...expected, lacking])
})
