/** Searches for anything suspicious, with the results of `src/redaction/trigger.ts`, and for one text. */
import { byteAt } from './json'

/** Tables of `TriggerPairs`. */
export const groups: usize = memory.data(1 << 16, 16)
export const counts: usize = memory.data(1 << 14, 16)
export const first: usize = memory.data(1 << 15, 16)
/** Room for so many literals. */
export const mostLiterals: i32 = 4096
export const distances: usize = memory.data(mostLiterals, 16)
export const others: usize = memory.data(mostLiterals, 16)

/** The groups of the pair of characters at `at`. */
function groupsAt(at: i32): u32 {
  return load<u16>(groups + 2 * (<usize>load<u16>(at) & 0x7f7f))
}

/** Whether a literal may be around the pair at `pair`: the first check of `startAround`. */
function mayBeAround(pair: i32): bool {
  const two = <u32>load<u16>(pair)
  const index = (two & 0x7f) | ((two >> 1) & 0x3f80)
  let n = <u32>load<u16>(first + 2 * index)
  const last = n + <u32>load<u8>(counts + index)
  for (; n < last; n++) {
    const other = byteAt(pair + <i32>load<i8>(distances + n))
    if ((other & 31) == <u32>load<u8>(others + n)) return true
  }
  return false
}

function mayBeAt(pair: i32): bool {
  return mayBeAround(pair - 2) || mayBeAround(pair)
}

/** Position of the next eight bytes that a literal may be around; at least `end` + 2 if there are none. */
export function find(start: i32, end: i32): i32 {
  let known: u32 = 0xff
  let at = start
  for (; at < end + 2; at += 8) {
    const a = groupsAt(at)
    const b = groupsAt(at + 2)
    const c = groupsAt(at + 4)
    const d = groupsAt(at + 6)
    if ((((known << 8) & a) | ((a << 8) & b) | ((b << 8) & c) | ((c << 8) & d)) != 0) {
      const isAny =
        ((known & (a >> 8)) != 0 && mayBeAt(at)) ||
        ((a & (b >> 8)) != 0 && mayBeAt(at + 2)) ||
        ((b & (c >> 8)) != 0 && mayBeAt(at + 4)) ||
        ((c & (d >> 8)) != 0 && mayBeAt(at + 6))
      if (isAny) return at
    }
    known = d
  }
  return at
}

function isAt(at: i32, text: i32, length: i32): bool {
  for (let i = 0; i < length; i++) if (byteAt(at + i) != byteAt(text + i)) return false
  return true
}

/** Whether the bytes from `start` to `end` contain a text. */
export function contains(start: i32, end: i32, text: i32, length: i32): bool {
  // Few places have four of its characters.
  const last = length - 1
  const second = min(1, last)
  const middle = length >> 1
  const a = i8x16.splat(load<i8>(text))
  const b = i8x16.splat(load<i8>(text + second))
  const c = i8x16.splat(load<i8>(text + middle))
  const d = i8x16.splat(load<i8>(text + last))
  for (let at = start; at < end; at += 16) {
    const left = v128.and(i8x16.eq(v128.load(at), a), i8x16.eq(v128.load(at + second), b))
    const right = v128.and(i8x16.eq(v128.load(at + middle), c), i8x16.eq(v128.load(at + last), d))
    for (let found = i8x16.bitmask(v128.and(left, right)); found != 0; found &= found - 1) {
      const place = at + ctz(found)
      if (place + length <= end && isAt(place, text, length)) return true
    }
  }
  return false
}
