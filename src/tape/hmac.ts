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

/** The first 32 bits of the fractional parts of the square roots of the first 8 primes. */
const initial = [
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
]

/** The same of the cube roots of the first 64 primes. */
const rounds = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
]

/** SHA-256 by FIPS 180-4. The loops call nothing, since they run before the engine compiles them. */
function sha256(bytes: Uint8Array): Buffer {
  const padded = Buffer.alloc(Math.ceil((bytes.length + 9) / blockBytes) * blockBytes)
  padded.set(bytes)
  padded[bytes.length] = 0x80
  padded.writeUIntBE(bytes.length * 8, padded.length - 6, 6)
  const state = new Int32Array(initial)
  const words = new Int32Array(64)
  for (let at = 0; at < padded.length; at += blockBytes) {
    for (let i = 0; i < 16; i++) words[i] = padded.readInt32BE(at + i * 4)
    for (let i = 16; i < 64; i++) {
      const v = words[i - 15]!
      const w = words[i - 2]!
      const s0 = ((v >>> 7) | (v << 25)) ^ ((v >>> 18) | (v << 14)) ^ (v >>> 3)
      const s1 = ((w >>> 17) | (w << 15)) ^ ((w >>> 19) | (w << 13)) ^ (w >>> 10)
      words[i] = words[i - 16]! + s0 + words[i - 7]! + s1
    }
    addBlock(state, words)
  }
  const digest = Buffer.alloc(32)
  state.forEach((word, i) => digest.writeInt32BE(word, i * 4))
  return digest
}

function addBlock(state: Int32Array, words: Int32Array): void {
  let a = state[0]!
  let b = state[1]!
  let c = state[2]!
  let d = state[3]!
  let e = state[4]!
  let f = state[5]!
  let g = state[6]!
  let h = state[7]!
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7))
    const first = h + s1 + ((e & f) ^ (~e & g)) + rounds[i]! + words[i]!
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10))
    h = g
    g = f
    f = e
    e = (d + first) | 0
    d = c
    const second = s0 + ((a & b) ^ (a & c) ^ (b & c))
    c = b
    b = a
    a = (first + second) | 0
  }
  state[0]! += a
  state[1]! += b
  state[2]! += c
  state[3]! += d
  state[4]! += e
  state[5]! += f
  state[6]! += g
  state[7]! += h
}
