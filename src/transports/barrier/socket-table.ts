import os from 'node:os'

/** One end of a TCP connection. */
export interface End {
  readonly address: string
  readonly port: number
}

/** Linux's tables of the TCP sockets in a network namespace: IPv4 and IPv6. */
export type TableName = 'tcp' | 'tcp6'

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

/**
 * Visits the rows that contain a text, in one pass. Other rows cost no memory.
 *
 * @param rows whole lines of a table
 * @param row gets both ends in the format of `keyOf`, and the uid of the near end: `any` where it is not reliable. A
 *   socket that is closed by its process or in TIME_WAIT has no inode; kernels may report root as its owner.
 */
export function eachRow(rows: Buffer, needle: string, row: (key: string, uid: number | 'any') => void): void {
  for (let at = rows.indexOf(needle, 0, 'latin1'); at !== -1;) {
    const start = rows.lastIndexOf(10, at) + 1
    const next = rows.indexOf(10, at)
    const end = next === -1 ? rows.length : next
    // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
    const columns = rows.toString('latin1', start, end).trim().split(/ +/, 10)
    const [, near = '', far = '', , , , , uid = '', , inode = '0'] = columns
    row(`${near} ${far}`, inode === '0' || !/^\d{1,10}$/.test(uid) ? 'any' : Number(uid))
    at = rows.indexOf(needle, end, 'latin1')
  }
}

/** Part of every row of a port, and of few other rows. */
export function portText(port: number): string {
  return `:${hex(port, 4)}`
}

/** @param other the far end; undefined for a listening socket. Undefined when the table can hold no such row */
export function keyOf(name: TableName, own: End, other: End | undefined): string | undefined {
  const near = endText(own, name)
  const far = other ? endText(other, name) : `${'0'.repeat(name === 'tcp' ? 8 : 32)}:0000`
  return near === undefined || far === undefined ? undefined : `${near} ${far}`
}

/** `0100007F:1F90`: the words of the address in the machine's byte order, the port as a number. */
function endText({ address, port }: End, name: TableName): string | undefined {
  const bytes = addressBytes(address)
  if (!bytes) return undefined
  const isMapped = mappedPrefix.every((byte, n) => bytes[n] === byte)
  if (name === 'tcp' && !isMapped) return undefined
  const shown = name === 'tcp' ? bytes.slice(12) : bytes
  let text = ''
  for (let word = 0; word < shown.length; word += 4) {
    const four = shown.slice(word, word + 4)
    if (os.endianness() === 'LE') four.reverse()
    text += four.map((byte) => hex(byte, 2)).join('')
  }
  return text + portText(port)
}

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0')
}

/** All 16 bytes, with an IPv4 address as IPv4-mapped IPv6. Undefined when the text is not an address. */
export function addressBytes(address: string): number[] | undefined {
  const text = address.replace(/%.*$/s, '')
  const dotted = /^(.*:)?(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)
  const four = dotted ? dotted.slice(2).map(Number) : []
  if (four.some((byte) => byte > 255)) return undefined
  if (dotted && dotted[1] === undefined) return [...mappedPrefix, ...four]
  const words = dotted
    ? `${dotted[1]}${hex(four[0]! * 256 + four[1]!, 4)}:${hex(four[2]! * 256 + four[3]!, 4)}`
    : text
  const halves = words.split('::')
  if (halves.length > 2 || !words.includes(':')) return undefined
  const [head = [], tail = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - tail.length
  if (halves.length === 2 ? missing < 0 : missing !== 0) return undefined
  const all = [...head, ...Array<string>(missing).fill('0'), ...tail]
  if (!all.every((word) => /^[0-9a-f]{1,4}$/i.test(word))) return undefined
  return all.flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 0xff])
}
