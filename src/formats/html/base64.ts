const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** Bytes as base64, in pieces. */
export async function* base64Pieces(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  let rest = new Uint8Array(0)
  for await (const chunk of source) {
    const bytes = new Uint8Array(rest.length + chunk.length)
    bytes.set(rest)
    bytes.set(chunk, rest.length)
    const whole = bytes.length - (bytes.length % 3)
    yield base64(bytes.subarray(0, whole))
    rest = bytes.slice(whole)
  }
  yield base64(rest)
}

export function base64(bytes: Uint8Array): string {
  let text = ''
  for (let i = 0; i < bytes.length; i += 3) {
    const [a = 0, b = 0, c = 0] = [bytes[i], bytes[i + 1], bytes[i + 2]]
    text += alphabet[a >> 2]! + alphabet[((a & 3) << 4) | (b >> 4)]!
    text += i + 1 < bytes.length ? alphabet[((b & 15) << 2) | (c >> 6)]! : '='
    text += i + 2 < bytes.length ? alphabet[c & 63]! : '='
  }
  return text
}
