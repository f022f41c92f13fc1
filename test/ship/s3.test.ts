import { describe, expect, it } from 'vitest'
import { createS3Requests, type S3Place } from '../../src/ship/store/s3-requests.js'
import { createS3Store } from '../../src/ship/store/s3-store.js'

/** The examples of "Signature Calculations for the Authorization Header" in the documentation of Amazon S3. */
const place: S3Place = {
  bucket: 'examplebucket',
  region: 'us-east-1',
  endpoint: 'https://s3.amazonaws.com',
  pathStyle: false,
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
}

interface Seen {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly bytes: number
}

function answering(answer: (seen: Seen) => Response): { seen: Seen[]; fetchIt: typeof fetch } {
  const seen: Seen[] = []
  return {
    seen,
    fetchIt: (url, init) => {
      const one = {
        method: init?.method ?? 'GET',
        url: new URL(url instanceof Request ? url.url : url),
        headers: new Headers(init?.headers),
        bytes: init?.body instanceof Uint8Array ? init.body.length : 0,
      }
      seen.push(one)
      return Promise.resolve(answer(one))
    },
  }
}

const at = (): Date => new Date('2013-05-24T00:00:00Z')

describe('requests to S3', () => {
  it.each([
    [
      { method: 'GET', key: '', query: { lifecycle: '' } } as const,
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      { method: 'GET', key: '', query: { 'max-keys': '2', prefix: 'J' } } as const,
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
    [
      {
        method: 'PUT',
        key: 'test$file.text',
        headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
        body: Buffer.from('Welcome to Amazon S3.'),
      } as const,
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
  ])('have the signatures of the documentation, %#', async (request, signature) => {
    const { seen, fetchIt } = answering(() => new Response())
    await createS3Requests(place, fetchIt, at)(request)
    expect(seen[0]!.url.host).toBe('examplebucket.s3.amazonaws.com')
    expect(seen[0]!.headers.get('authorization')).toContain(`Signature=${signature}`)
  })

  it('send a session token, and no key but its id', async () => {
    const { seen, fetchIt } = answering(() => new Response())
    const send = createS3Requests({ ...place, sessionToken: 'token' }, fetchIt)
    await send({ method: 'GET', key: 'a' })
    expect(seen[0]!.headers.get('x-amz-security-token')).toBe('token')
    expect(JSON.stringify([seen[0]!.url, [...seen[0]!.headers]])).not.toContain(place.secretAccessKey)
  })
})

describe('S3 as a store', () => {
  it('puts an object only where there is none, and tries again what failed for a moment', async () => {
    let failures = 1
    const { seen, fetchIt } = answering(({ method }) => {
      if (method === 'HEAD') return new Response(null, { status: 404 })
      if ((failures -= 1) >= 0) return new Response('<Error><Code>SlowDown</Code></Error>', { status: 503 })
      return new Response(null, { status: 412 })
    })
    const store = createS3Store(place, 'team', createS3Requests(place, fetchIt))
    expect(await store.put('a.json', Buffer.from('x'), { ifAbsent: true })).toBe('there')
    expect(seen.map(({ method }) => method)).toEqual(['HEAD', 'PUT', 'PUT'])
    expect(seen[2]!.headers.get('if-none-match')).toBe('*')
    expect(seen[2]!.url.pathname).toBe('/team/a.json')
  })

  it('uploads large objects in parts, and aborts an upload that fails', async () => {
    const body = Buffer.alloc(17 * 1024 * 1024)
    let refuses = false
    const { seen, fetchIt } = answering(({ method, url }) => {
      if (url.searchParams.has('uploads')) return new Response('<R><UploadId>u1</UploadId></R>')
      if (refuses && url.searchParams.get('partNumber') === '2') return new Response('', { status: 403 })
      const part = url.searchParams.get('partNumber')
      return new Response(method === 'DELETE' ? null : '<ok/>', { headers: { etag: `"${part}"` } })
    })
    const store = createS3Store(place, '', createS3Requests(place, fetchIt))
    expect(await store.put('big', body)).toBe('stored')
    expect(seen.map(({ method, bytes }) => (method === 'PUT' ? bytes : method))).toEqual([
      'POST',
      8_388_608,
      8_388_608,
      1_048_576,
      'POST',
    ])
    refuses = true
    await expect(store.put('big', body)).rejects.toMatchObject({ code: 'refused' })
    expect(seen.at(-1)).toMatchObject({ method: 'DELETE' })
  })

  it("reports the store's error, without keys", async () => {
    const text = '<Error><Code>AccessDenied</Code><Message>no &amp; never</Message></Error>'
    const { fetchIt } = answering(() => new Response(text, { status: 403 }))
    const store = createS3Store(place, '', createS3Requests(place, fetchIt))
    const failure = store.put('a', Buffer.from('x'))
    await expect(failure).rejects.toMatchObject({ code: 'refused' })
    await expect(failure).rejects.toThrow(/status 403, AccessDenied, no & never/)
    await expect(failure).rejects.not.toThrow(place.secretAccessKey)
  })
})
