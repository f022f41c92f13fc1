/** The parts of a TLS ClientHello that matter here. */
export interface ClientHello {
  /** Server name indication. */
  readonly serverName?: string
  /** ALPN protocols in order of preference; undefined when the client sends none. */
  readonly protocols?: readonly string[]
}

/** The longest ClientHello to wait for. With post-quantum key shares they have about 2 kB. */
const longestHello = 64 * 1024
const handshakeRecord = 0x16
const clientHello = 1
const extension = { serverName: 0, protocols: 16 } as const

/**
 * Reads the first bytes of a TLS connection (RFC 8446, 4.1.2 and 5.1).
 *
 * @returns `more` while bytes are missing; `other` when they are not a ClientHello
 */
export function readClientHello(bytes: Uint8Array): ClientHello | 'more' | 'other' {
  const message = joinRecords(bytes)
  if (message === 'other') return 'other'
  if (message[0] !== undefined && message[0] !== clientHello) return 'other'
  const missing = bytes.length > longestHello ? 'other' : 'more'
  if (message.length < 4) return missing
  const end = 4 + ((message[1]! << 16) | (message[2]! << 8) | message[3]!)
  if (message.length < end) return missing
  const reader = createReader(message.subarray(4, end))
  reader.skip(2 + 32)
  reader.vector(1)
  reader.vector(2)
  reader.vector(1)
  const extensions = createReader(reader.vector(2))
  const hello: { serverName?: string; protocols?: string[] } = {}
  while (extensions.left > 0) {
    const type = extensions.number(2)
    const data = createReader(extensions.vector(2))
    if (type === extension.serverName) {
      const names = createReader(data.vector(2))
      if (names.number(1) === 0) hello.serverName = asciiText(names.vector(2))
    } else if (type === extension.protocols) {
      const names = createReader(data.vector(2))
      hello.protocols = []
      while (names.left > 0) hello.protocols.push(asciiText(names.vector(1)))
    }
  }
  return hello
}

/** One message may be split into several records. */
function joinRecords(bytes: Uint8Array): Uint8Array | 'other' {
  const pieces: Uint8Array[] = []
  let at = 0
  while (at < bytes.length) {
    if (bytes[at] !== handshakeRecord || (bytes[at + 1] ?? 3) !== 3)
      return pieces.length === 0 ? 'other' : concat(pieces)
    if (at + 5 > bytes.length) break
    const length = (bytes[at + 3]! << 8) | bytes[at + 4]!
    if (length === 0) return 'other'
    pieces.push(bytes.subarray(at + 5, at + 5 + length))
    at += 5 + length
  }
  return concat(pieces)
}

interface Reader {
  readonly left: number
  skip(count: number): void
  number(width: number): number
  /** The bytes after a length field of `width` bytes. */
  vector(width: number): Uint8Array
}

/** Beyond the end everything is zero and empty, so a truncated message needs no special case. */
function createReader(bytes: Uint8Array): Reader {
  let at = 0
  function number(width: number): number {
    let value = 0
    for (let n = 0; n < width; n += 1) value = value * 256 + (bytes[at + n] ?? 0)
    at += width
    return value
  }
  return {
    get left() {
      return Math.max(0, bytes.length - at)
    },
    skip: (count) => void (at += count),
    number,
    vector(width) {
      const length = number(width)
      const start = at
      at += length
      return bytes.subarray(start, start + length)
    },
  }
}

function asciiText(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes)
}

function concat(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : new Uint8Array(Buffer.concat(pieces))
}
