import zlib from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { isMessage, useHttpStage } from '../behaviour/http-stage.js'
import { postHeaders } from '../behaviour/stage.js'

const stage = useHttpStage()

/** Node 22.15 and later have zstd. */
const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer }
const codings: [string, (text: string) => Buffer][] = [
  ['gzip', zlib.gzipSync],
  ['deflate', zlib.deflateSync],
  ['br', zlib.brotliCompressSync],
  ...(zstdCompressSync ? ([['zstd', zstdCompressSync]] as [string, typeof zstdCompressSync][]) : []),
]
const rules = "rules: [{ name: change, when: 'id:2', set: { '$.params.text': 'after' } }]"
const call = (id: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'echo', params: { text: 'x' } })

/** Takes requests in any coding, and remembers their bytes. */
async function serve(): Promise<{ url: string; got: [coding: string | undefined, bytes: Buffer][] }> {
  const got: [string | undefined, Buffer][] = []
  const url = await stage.serve((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      got.push([request.headers['content-encoding'], Buffer.concat(chunks)])
      response.writeHead(202).end()
    })
  })
  return { url, got }
}

const send = (url: string, coding: string, body: Buffer): Promise<unknown> =>
  fetch(url, {
    method: 'POST',
    headers: { ...postHeaders, 'content-encoding': coding },
    body: new Uint8Array(body),
  }).then((response) => response.text())

describe('a request in a content coding', () => {
  it.each(codings)(
    '%s is changed by a rule, and passes byte for byte where no rule asks for it',
    async (coding, code) => {
      const upstream = await serve()
      const { recorder, url } = await stage.recordUrl(upstream.url, [], rules)
      await send(url, coding, code(call(1)))
      await send(url, coding, code(call(2)))
      expect(upstream.got).toEqual([
        [coding, code(call(1))],
        [undefined, Buffer.from(call(2).replace('"x"', '"after"'))],
      ])
      const [first, second] = (await stage.end(recorder)).filter(isMessage)
      expect(first).toMatchObject({ raw: { id: 1, params: { text: 'x' } } })
      expect(first).not.toHaveProperty('modified')
      expect(second).toMatchObject({
        raw: { id: 2, params: { text: 'after' } },
        original: { params: { text: 'x' } },
        modified: true,
      })
    },
  )

  it('that is not known passes as it is, and that is said', async () => {
    const upstream = await serve()
    const { recorder, url } = await stage.recordUrl(upstream.url, [], rules)
    const body = Buffer.from('not to be read')
    await send(url, 'compress', body)
    expect(upstream.got).toEqual([['compress', body]])
    const note = (await stage.end(recorder)).find(({ type }) => type === 'note')
    expect(note).toMatchObject({
      text: expect.stringMatching(
        /^a request was forwarded without .* content coding compress cannot be inspected/,
      ),
    })
  })
})
