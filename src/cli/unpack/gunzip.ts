import type zlib from 'node:zlib'
import { createEngine, type Engine } from './engine.js'
import { UnpackError, type Packed } from './unpack-error.js'

/**
 * Unpacks every member of a gzip file (RFC 1952). Node's own stream ignores all data after a zero byte that
 * follows a member, and withholds the end of a member that other bytes follow.
 *
 * @throws UnpackError
 */
export async function* gunzip(
  { createInflateRaw, crc32 }: Pick<typeof zlib, 'createInflateRaw' | 'crc32'>,
  { slices, fault }: Packed,
): AsyncGenerator<Uint8Array, void, undefined> {
  let step: 'header' | 'data' | 'trailer' | 'rest' = 'header'
  let header = memberHeader()
  let headerBytes = 0
  let engine: Engine | undefined
  let fed = 0
  let crc = 0
  let size = 0
  let trailer: number[] = []
  let restIsPadding = true

  function* made(): Generator<Uint8Array> {
    for (const bytes of engine!.take()) {
      crc = crc32(bytes, crc)
      size += bytes.length
      yield bytes
    }
  }
  try {
    for await (const slice of slices) {
      let at = 0
      while (at < slice.length) {
        if (step === 'header') {
          const { done, value } = header.next(slice[at]!)
          headerBytes += 1
          if (done && value === 'rest') step = 'rest'
          else if (done) {
            at += 1
            engine = createEngine(createInflateRaw())
            fed = crc = size = 0
            step = 'data'
          } else at += 1
        } else if (step === 'data') {
          await engine!.feed(slice.subarray(at))
          fed += slice.length - at
          yield* made()
          const failure = engine!.failure()
          if (failure) throw new UnpackError(failure.message)
          // The engine takes only the bytes of its member.
          const left = fed - engine!.taken()
          at = slice.length - left
          if (left > 0) step = 'trailer'
        } else if (step === 'trailer') {
          trailer.push(slice[at]!)
          at += 1
          if (trailer.length < 8) continue
          if (number(trailer.slice(0, 4)) !== crc) throw new UnpackError('the checksum is wrong')
          if (number(trailer.slice(4)) !== size % 2 ** 32) throw new UnpackError('the size is wrong')
          engine!.close()
          trailer = []
          header = memberHeader()
          headerBytes = 0
          step = 'header'
        } else {
          restIsPadding &&= slice.subarray(at).every((byte) => byte === 0)
          at = slice.length
        }
      }
    }
    if (step === 'data') {
      await engine!.end()
      yield* made()
    }
    // Tapes are usually padded to the block size.
    if (step === 'rest') {
      if (!restIsPadding) fault('rest')
    } else if (step !== 'header' || headerBytes > 0) fault('cut')
  } finally {
    engine?.close()
  }
}

/** Takes the bytes of a member's header one by one, until its end or until a byte belongs to no header. */
function memberHeader(): Generator<undefined, 'rest' | 'data', number> {
  const header = headerFields()
  header.next()
  return header
}

function* headerFields(): Generator<undefined, 'rest' | 'data', number> {
  if ((yield) !== 0x1f) return 'rest'
  if ((yield) !== 0x8b) return 'rest'
  if ((yield) !== 8) throw new UnpackError('its compression method is unknown')
  const flags = yield
  if (flags & 0xe0) throw new UnpackError('its header has unknown flags')
  // Time, level and system.
  for (let i = 0; i < 6; i += 1) yield
  if (flags & 4) {
    let extra = yield
    extra += (yield) << 8
    for (; extra > 0; extra -= 1) yield
  }
  // A name and a comment.
  if (flags & 8) while ((yield) !== 0);
  if (flags & 16) while ((yield) !== 0);
  if (flags & 2) {
    yield
    yield
  }
  return 'data'
}

/** Little-endian. */
function number(bytes: readonly number[]): number {
  return bytes.reduce((sum, byte, i) => sum + byte * 2 ** (8 * i), 0)
}
