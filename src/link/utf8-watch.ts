import { isUtf8 } from 'node:buffer'

/** Is shown the bytes of each message that crosses a bridge, or told of one that was seen to be broken. */
export type Utf8Watch = (bytes: Uint8Array | 'lossy') => void

/** Bytes that are no UTF-8 cross a bridge as U+FFFD, as JSON has no other text (RFC 8259, 8.1). Says so once. */
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
