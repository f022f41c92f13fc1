/** Writes the line of a message, with the results of `src/formats/trace-v1/message-line.ts`. */

/** The key of `MessageIds`. */
export const key: usize = memory.data(16, 16)

/** The last step of MurmurHash3. */
function mixed(word: u32): u32 {
  let it = word ^ (word >> 16)
  it *= 0x85ebca6b
  it ^= it >> 13
  it *= 0xc2b2ae35
  return it ^ (it >> 16)
}

/** The eight hexadecimal digits of a word as ASCII, the first one lowest. */
function hexOf(word: u32): u64 {
  let digits: u64 = bswap<u32>(word)
  digits = ((digits & 0xffff0000) << 16) | (digits & 0xffff)
  digits = ((digits & 0x0000ff000000ff00) << 8) | (digits & 0x000000ff000000ff)
  digits = ((digits >> 4) & 0x000f000f000f000f) | ((digits & 0x000f000f000f000f) << 8)
  const letters = ((digits + 0x0606060606060606) >> 4) & 0x0101010101010101
  return digits + 0x3030303030303030 + letters * 0x27
}

/** As `MessageIds.write`. */
function putId(place: u32, to: i32): i32 {
  const a = mixed(place ^ load<u32>(key))
  const b = mixed(place + load<u32>(key, 4))
  const c = mixed(a ^ load<u32>(key, 8))
  const d = mixed(b ^ load<u32>(key, 12))
  const second = hexOf((b & 0xffff0fff) | 0x4000)
  const third = hexOf((c & 0x3fffffff) | 0x80000000)
  store<u64>(to, hexOf(a))
  store<u8>(to, 0x2d, 8)
  store<u32>(to, <u32>second, 9)
  store<u8>(to, 0x2d, 13)
  store<u32>(to, <u32>(second >> 32), 14)
  store<u8>(to, 0x2d, 18)
  store<u32>(to, <u32>third, 19)
  store<u8>(to, 0x2d, 23)
  store<u32>(to, <u32>(third >> 32), 24)
  store<u64>(to, hexOf(d), 28)
  return to + 36
}

function putCount(count: u64, to: i32): i32 {
  let end = to + 1
  for (let rest = count; rest >= 10; rest /= 10) end++
  let rest = count
  for (let at = end - 1; at >= to; at--) {
    store<u8>(at, <u32>(0x30 + (rest % 10)))
    rest /= 10
  }
  return end
}

function put(word: string, to: i32): i32 {
  const letters = changetype<usize>(word)
  for (let i = 0; i < word.length; i++) store<u8>(to + i, load<u8>(letters + 2 * i))
  return to + word.length
}

/**
 * Writes the line of a message to `to`. Returns the position after it.
 *
 * @param answers the place of the request that a result answers, otherwise -1
 */
export function write(
  head: i32,
  headLength: i32,
  start: i32,
  end: i32,
  id: f64,
  answers: f64,
  seq: f64,
  us: f64,
  to: i32,
): i32 {
  memory.copy(to, head, headLength)
  let at = to + headLength
  memory.copy(at, start, end - start)
  at = putId(<u32>id, put(',"id":"', at + end - start))
  if (answers >= 0) at = putId(<u32>answers, put('","corr":"', at))
  at = putCount(<u64>seq, put('","seq":', at))
  return put('}\n', putCount(<u64>us, put(',"us":', at)))
}
