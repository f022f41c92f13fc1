/** The content of `partial_success` in an export response. */
export interface Reply {
  /** Spans or data points that the receiver rejected. */
  readonly rejected: number
  readonly message: string
}

const nothing: Reply = { rejected: 0, message: '' }
const longestMessage = 200

/** Never throws: a receiver that accepted everything may respond with anything. */
export function readReply(body: Buffer, contentType: string): Reply {
  try {
    return contentType.includes('json') ? fromJson(body.toString()) : fromProtobuf(body)
  } catch {
    return nothing
  }
}

function fromJson(text: string): Reply {
  const value = JSON.parse(text === '' ? '{}' : text) as {
    partialSuccess?: { rejectedSpans?: unknown; rejectedDataPoints?: unknown; errorMessage?: unknown }
  }
  const { rejectedSpans, rejectedDataPoints, errorMessage } = value.partialSuccess ?? {}
  const rejected = Number(rejectedSpans ?? rejectedDataPoints ?? 0)
  return checked(rejected, typeof errorMessage === 'string' ? errorMessage : '')
}

/** Field 1 is the message with the count in field 1 and the text in field 2. */
function fromProtobuf(body: Buffer): Reply {
  const partial = fieldsOf(body).get(1)
  if (!(partial instanceof Buffer)) return nothing
  const fields = fieldsOf(partial)
  const message = fields.get(2)
  return checked(Number(fields.get(1) ?? 0), message instanceof Buffer ? message.toString() : '')
}

function checked(rejected: number, message: string): Reply {
  const isCount = Number.isSafeInteger(rejected) && rejected > 0
  return { rejected: isCount ? rejected : 0, message: message.slice(0, longestMessage) }
}

/** Numbers and byte strings of a protobuf message, by field. Reading ends at any other type. */
function fieldsOf(bytes: Buffer): Map<number, number | Buffer> {
  const fields = new Map<number, number | Buffer>()
  let at = 0
  const varint = (): number => {
    let value = 0
    for (let shift = 1; at < bytes.length; shift *= 0x80) {
      const byte = bytes[at++]!
      value += (byte & 0x7f) * shift
      if (byte < 0x80) break
    }
    return value
  }
  while (at < bytes.length) {
    const tag = varint()
    const type = tag % 8
    if (type === 0) fields.set(Math.floor(tag / 8), varint())
    else if (type === 2) {
      const size = varint()
      fields.set(Math.floor(tag / 8), bytes.subarray(at, at + size))
      at += size
    } else break
  }
  return fields
}
