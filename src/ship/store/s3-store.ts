import { open } from 'node:fs/promises'
import { WiretapeError } from '../../model/index.js'
import { readReason } from '../../tape/index.js'
import {
  bytesOf,
  checkKey,
  noSuchObject,
  type Content,
  type ObjectStore,
  type StoredObject,
} from './object-store.js'
import { createS3Requests, failureOf, hostOf, xmlText, type S3Place, type SendS3 } from './s3-requests.js'

/** Larger objects are uploaded in parts of this size, so that a failure costs one part. */
const partBytes = 8 * 1024 * 1024
/** Not the type of the text: clients must not decompress it themselves. */
const type = { 'content-type': 'application/octet-stream' }

/** A bucket of S3 or a compatible store. */
export function createS3Store(place: S3Place, prefix: string, send = createS3Requests(place)): ObjectStore {
  const address = `s3://${place.bucket}${prefix === '' ? '' : `/${prefix}`} at ${hostOf(place)}`
  const nameOf = (key: string): string => (prefix === '' ? checkKey(key) : `${prefix}/${checkKey(key)}`)
  async function head(key: string): Promise<StoredObject | undefined> {
    const response = await send({ method: 'HEAD', key: nameOf(key) })
    if (response.status === 404) return undefined
    if (!response.ok) throw await failureOf(response, place, `looking up ${key}`)
    return { key, size: Number(response.headers.get('content-length') ?? 0) }
  }
  return {
    kind: 's3',
    address,
    async put(key, content, { ifAbsent = false } = {}) {
      if (ifAbsent && (await isThere(head, key))) return 'there'
      const size = content instanceof Uint8Array ? content.length : content.size
      const name = nameOf(key)
      const status =
        size > partBytes
          ? await putParts(send, place, name, content, size, ifAbsent)
          : await putWhole(send, place, name, await contentOf(content), ifAbsent)
      return status === 412 ? 'there' : 'stored'
    },
    async *get(key, range) {
      if (range?.length === 0) return
      const headers = range && { range: `bytes=${range.at}-${range.at + range.length - 1}` }
      const response = await send({ method: 'GET', key: nameOf(key), ...(headers && { headers }) })
      if (response.status === 404) throw noSuchObject(key, address)
      if (!response.ok) throw await failureOf(response, place, `reading ${key}`)
      const chunks = response.body as unknown as AsyncIterable<Uint8Array> | null
      try {
        if (range && response.status === 200) {
          // Stores without range support send the whole object.
          yield (await bytesOf(chunks ?? none())).subarray(range.at, range.at + range.length)
        } else if (chunks) yield* chunks
      } catch (cause) {
        throw new WiretapeError('unreachable', `S3 ${hostOf(place)}: reading ${key} was interrupted`, {
          cause,
        })
      }
    },
    head,
    list: (start) => listAll(send, place, prefix, start),
    async delete(key) {
      const response = await send({ method: 'DELETE', key: nameOf(key) })
      if (!response.ok && response.status !== 404) throw await failureOf(response, place, `deleting ${key}`)
    },
    close: () => Promise.resolve(),
  }
}

/** Write-only credentials cannot check first; their conditional put decides. */
async function isThere(head: ObjectStore['head'], key: string): Promise<boolean> {
  try {
    return (await head(key)) !== undefined
  } catch (error) {
    if (error instanceof WiretapeError && error.code === 'refused') return false
    throw error
  }
}

/** Returns 412 if the object already exists. */
async function putWhole(
  send: SendS3,
  place: S3Place,
  key: string,
  body: Uint8Array,
  ifAbsent: boolean,
): Promise<number> {
  const condition = ifAbsent ? { 'if-none-match': '*' } : undefined
  let response = await send({ method: 'PUT', key, body, headers: { ...type, ...condition } })
  // For stores without conditional puts: the name identifies the content, so rewriting it changes nothing.
  if (response.status === 501 && ifAbsent) {
    response = await send({ method: 'PUT', key, body, headers: type })
  }
  if (response.ok || response.status === 412) return response.status
  throw await failureOf(response, place, `writing ${key}`)
}

async function putParts(
  send: SendS3,
  place: S3Place,
  key: string,
  content: Content,
  size: number,
  ifAbsent: boolean,
): Promise<number> {
  const started = await send({ method: 'POST', key, query: { uploads: '' }, headers: type })
  if (!started.ok) throw await failureOf(started, place, `writing ${key}`)
  const uploadId = xmlText(await started.text(), 'UploadId')
  if (uploadId === undefined)
    throw new WiretapeError('refused', `S3 ${hostOf(place)}: the response has no upload id`)
  try {
    let parts = ''
    for (let number = 1; (number - 1) * partBytes < size; number += 1) {
      const at = (number - 1) * partBytes
      const body = await partOf(content, at, Math.min(partBytes, size - at))
      const query = { partNumber: String(number), uploadId }
      const response = await send({ method: 'PUT', key, query, body })
      const etag = response.headers.get('etag')
      if (!response.ok || etag === null) throw await failureOf(response, place, `writing a part of ${key}`)
      const escaped = etag.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
      parts += `<Part><PartNumber>${number}</PartNumber><ETag>${escaped}</ETag></Part>`
    }
    const body = Buffer.from(`<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`)
    const headers = { 'content-type': 'application/xml', ...(ifAbsent && { 'if-none-match': '*' }) }
    const response = await send({ method: 'POST', key, query: { uploadId }, headers, body })
    if (response.status === 412) return 412
    const said = response.ok ? await response.text() : ''
    // An upload can fail after its status is sent.
    if (response.ok && !said.includes('<Error>')) return response.status
    if (response.ok) throw new WiretapeError('unreachable', `S3 ${hostOf(place)}: ${xmlText(said, 'Code')}`)
    throw await failureOf(response, place, `writing ${key}`)
  } catch (error) {
    await send({ method: 'DELETE', key, query: { uploadId } }).catch(() => undefined)
    throw error
  }
}

async function* listAll(
  send: SendS3,
  place: S3Place,
  prefix: string,
  start: string,
): AsyncGenerator<StoredObject> {
  const above = prefix === '' ? '' : `${prefix}/`
  for (let after: string | undefined; ;) {
    const query = {
      'list-type': '2',
      prefix: above + start,
      ...(after !== undefined && { 'continuation-token': after }),
    }
    const response = await send({ method: 'GET', key: '', query })
    if (!response.ok) throw await failureOf(response, place, 'listing')
    const xml = await response.text()
    for (let at = xml.indexOf('<Contents>'); at >= 0; at = xml.indexOf('<Contents>', at + 1)) {
      const end = xml.indexOf('</Contents>', at)
      const entry = xml.slice(at, end < 0 ? xml.length : end)
      const key = xmlText(entry, 'Key') ?? ''
      if (key.startsWith(above)) {
        yield { key: key.slice(above.length), size: Number(xmlText(entry, 'Size') ?? 0) }
      }
    }
    after = xmlText(xml, 'NextContinuationToken')
    if (after === undefined || xmlText(xml, 'IsTruncated') !== 'true') return
  }
}

async function contentOf(content: Content): Promise<Uint8Array> {
  return content instanceof Uint8Array ? content : partOf(content, 0, content.size)
}

async function partOf(content: Content, at: number, length: number): Promise<Uint8Array> {
  if (content instanceof Uint8Array) return content.subarray(at, at + length)
  try {
    const file = await open(content.path, 'r')
    try {
      const part = new Uint8Array(length)
      for (let filled = 0; filled < length;) {
        const { bytesRead } = await file.read(part, filled, length - filled, at + filled)
        if (bytesRead === 0) throw new Error('the file shrank while it was read')
        filled += bytesRead
      }
      return part
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new WiretapeError('unreadable', `cannot read ${content.path}: ${readReason(cause)}`, { cause })
  }
}

async function* none(): AsyncGenerator<Uint8Array> {
  // The response has no body.
}
