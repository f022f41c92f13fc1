import { createEngine, type Decompressor, type Engine } from './engine.js'
import { UnpackError, type Packed } from './unpack-error.js'
import { createZstdFrames } from './zstd-frames.js'

/**
 * Unpacks every frame of a zstd file.
 *
 * @throws UnpackError
 */
export async function* unzstd(
  createDecompressor: () => Decompressor,
  { slices, fault }: Packed,
): AsyncGenerator<Uint8Array, void, undefined> {
  const frames = createZstdFrames()
  let engine: Engine | undefined
  try {
    for await (const slice of slices) {
      for (const { bytes, last } of frames.push(slice)) {
        engine ??= createEngine(createDecompressor())
        await engine.feed(bytes)
        yield* engine.take()
        if (last) {
          await engine.end()
          yield* engine.take()
        }
        const failure = engine.failure()
        if (failure) throw new UnpackError(failure.message)
        if (!last) continue
        engine.close()
        engine = undefined
      }
    }
    const end = frames.end()
    if (end !== 'whole') fault(end)
  } finally {
    engine?.close()
  }
}
