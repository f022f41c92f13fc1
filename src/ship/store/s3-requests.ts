import { createHash } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import { WiretapeError } from '../../model/index.js'
import { createDeadline } from '../../transports/index.js'

/** Attempts per request; the delay doubles from `firstDelayMs`. */
const attempts = 4
const firstDelayMs = 250
/** Time for a part of 8 MB at 27 kB/s. */
const requestMs = 300_000
const longestErrorBytes = 64 * 1024

export interface S3Place {
  readonly bucket: string
  readonly region: string
  /** Undefined: AWS. */
  readonly endpoint: string | undefined
  readonly pathStyle: boolean
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string | undefined
}

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** '' for the bucket itself. */
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Returns responses of any status except those that are retried. */
export type SendS3 = (request: S3Request) => Promise<Response>

/** Signs requests (Signature Version 4, including body hashes) and sends them. */
export function createS3Requests(
  place: S3Place,
  fetchIt: typeof fetch = fetch,
  now: () => Date = () => new Date(),
): SendS3 {
  // Derived keys of a day; never displayed.
  const cache = new Map<string, ArrayBuffer>()
  async function once({ method, key, query = {}, headers = {}, body }: S3Request): Promise<Response> {
    const url = s3Url(place, key)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const { accessKeyId, secretAccessKey, sessionToken, region } = place
    const signed = await new AwsV4Signer({
      method,
      url: url.href,
      headers: {
        ...headers,
        'x-amz-content-sha256': createHash('sha256')
          .update(body ?? '')
          .digest('hex'),
      },
      accessKeyId,
      secretAccessKey,
      ...(sessionToken !== undefined && { sessionToken }),
      region,
      service: 's3',
      cache,
      datetime: now()
        .toISOString()
        .replaceAll(/[:-]|\.\d{3}/g, ''),
    }).sign()
    const deadline = createDeadline({ ms: requestMs })
    try {
      return await fetchIt(signed.url, {
        method,
        headers: signed.headers,
        ...(body && { body: body as Uint8Array<ArrayBuffer> }),
        redirect: 'manual',
        signal: deadline.signal,
      })
    } finally {
      // The response body has no deadline, since it is as long as the object.
      deadline.close()
    }
  }
  return async (request) => {
    let delayMs = firstDelayMs
    for (let attempt = 1; ; attempt += 1) {
      let trouble: string
      let cause: unknown
      try {
        const response = await once(request)
        if (!isWorthAnother(response.status)) return response
        trouble = await saysWhy(response)
      } catch (error) {
        cause = error
        trouble = networkReason(error)
      }
      if (attempt === attempts) {
        throw new WiretapeError('unreachable', `S3 ${hostOf(place)}: ${trouble}`, { cause })
      }
      await setTimeout(delayMs * (0.5 + Math.random() / 2))
      delayMs *= 2
    }
  }
}

/** Converts an unsuccessful response to an error. */
export async function failureOf(response: Response, place: S3Place, what: string): Promise<WiretapeError> {
  const moved = response.headers.get('x-amz-bucket-region')
  const hint =
    moved !== null && moved !== place.region
      ? `the bucket is in the region ${moved.slice(0, 40)}: set AWS_REGION`
      : undefined
  return new WiretapeError('refused', `S3 ${hostOf(place)}: ${what}: ${await saysWhy(response)}`, {
    ...(hint !== undefined && { hint }),
  })
}

function isWorthAnother(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 501)
}

function s3Url({ bucket, region, endpoint, pathStyle }: S3Place, key: string): URL {
  const base = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`)
  if (!pathStyle) base.hostname = `${bucket}.${base.hostname}`
  const folders = base.pathname.split('/').filter((part) => part !== '')
  const parts = [...folders, ...(pathStyle ? [bucket] : []), ...(key === '' ? [] : key.split('/'))]
  base.pathname = `/${parts.map(encodeURIComponent).join('/')}`
  return base
}

export function hostOf(place: S3Place): string {
  return s3Url(place, '').host
}

async function saysWhy(response: Response): Promise<string> {
  const text = await startOf(response)
  const code = xmlText(text, 'Code')
  const message = xmlText(text, 'Message')
  const said = [code, message].filter((part) => part !== undefined).join(', ')
  return `status ${response.status}${said === '' ? '' : `, ${said.slice(0, 300)}`}`
}

async function startOf(response: Response): Promise<string> {
  if (!response.body) return ''
  const pieces: Uint8Array[] = []
  let bytes = 0
  try {
    for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
      pieces.push(piece)
      bytes += piece.length
      if (bytes > longestErrorBytes) break
    }
  } catch {
    // The bytes so far are enough.
  }
  return Buffer.concat(pieces).toString('utf8', 0, longestErrorBytes)
}

/** Text of the first element with that name. */
export function xmlText(xml: string, name: string): string | undefined {
  const from = xml.indexOf(`<${name}>`)
  const to = from < 0 ? -1 : xml.indexOf(`</${name}>`, from)
  if (to < 0) return undefined
  const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }
  return xml
    .slice(from + name.length + 2, to)
    .replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, entity: string) => entities[entity] ?? '')
}

function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
  if (cause instanceof Error && 'code' in cause && String(cause.code) !== '') return String(cause.code)
  return cause instanceof Error ? cause.message : String(cause)
}
