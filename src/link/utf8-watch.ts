import { isUtf8 } from 'node:buffer'

/** Checks the bytes of each message that crosses a bridge; `lossy` reports a message already found invalid. */
export type Utf8Watch = (bytes: Uint8Array | 'lossy') => void

/** Bytes that are not UTF-8 cross as U+FFFD, because JSON must be UTF-8 (RFC 8259, 8.1). Writes one notice. */
export function createUtf8Watch(onNotice: (line: string) => void): Utf8Watch {
  let told = false
  return (bytes) => {
    if (told || (bytes !== 'lossy' && isUtf8(bytes))) return
    told = true
    onNotice(
      'a message had bytes that are not UTF-8: U+FFFD replaces them, in the forwarded message and on the tape',
    )
  }
}
