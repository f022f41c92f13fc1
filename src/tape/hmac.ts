/**
 * HMAC-SHA256 of a short text as hexadecimal digits. A recorder needs it before its server's start, and loading
 * `node:crypto` takes 6 to 12 ms.
 */
export function hmacSha256(key: Uint8Array, text: string): string {
  const block = new Uint8Array(blockBytes)
  block.set(key.length > blockBytes ? sha256(key) : key)
  const inner = sha256(Buffer.concat([block.map((byte) => byte ^ 0x36), Buffer.from(text)]))
  return sha256(Buffer.concat([block.map((byte) => byte ^ 0x5c), inner])).toString('hex')
}

const blockBytes = 64

/** SHA-256 by FIPS 180-4. */
function sha256(bytes: Uint8Array): Buffer {
  const { initial, round } = constants()
  const padded = Buffer.alloc(Math.ceil((bytes.length + 9) / blockBytes) * blockBytes)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  padded.writeUIntBE(bytes.length * 8, padded.length - 6, 6)
  const state = Int32Array.from(initial)
  const words = new Int32Array(64)
  for (let at = 0; at < padded.length; at += blockBytes) {
    for (let i = 0; i < 16; i++) words[i] = padded.readInt32BE(at + i * 4)
    for (let i = 16; i < 64; i++) {
      const [w15, w2] = [words[i - 15]!, words[i - 2]!]
      const s0 = turn(w15, 7) ^ turn(w15, 18) ^ (w15 >>> 3)
      const s1 = turn(w2, 17) ^ turn(w2, 19) ^ (w2 >>> 10)
      words[i] = words[i - 16]! + s0 + words[i - 7]! + s1
    }
    mix(state, words, round)
  }
  const digest = Buffer.alloc(32)
  state.forEach((word, i) => digest.writeInt32BE(word, i * 4))
  return digest
}

/** Adds one block to the state. */
function mix(state: Int32Array, words: Int32Array, round: Int32Array): void {
  const mixed = Int32Array.from(state)
  for (let i = 0; i < 64; i++) {
    const [a, b, c, d] = [mixed[0]!, mixed[1]!, mixed[2]!, mixed[3]!]
    const [e, f, g, h] = [mixed[4]!, mixed[5]!, mixed[6]!, mixed[7]!]
    const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)
    const first = (h + s1 + ((e & f) ^ (~e & g)) + round[i]! + words[i]!) | 0
    const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)
    mixed.copyWithin(1, 0)
    mixed[4] = d + first
    mixed[0] = first + s0 + ((a & b) ^ (a & c) ^ (b & c))
  }
  for (let i = 0; i < 8; i++) state[i]! += mixed[i]!
}

function turn(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits))
}

/** The first 32 bits of the fractional parts of square roots of primes, and of cube roots. */
function constants(): { initial: Int32Array; round: Int32Array } {
  const primes: number[] = []
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  const fraction = (root: number): number => (root - Math.floor(root)) * 2 ** 32
  return {
    initial: Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime))),
    round: Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime))),
  }
}
