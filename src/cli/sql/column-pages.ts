import os from 'node:os'
import { ByteWriter, type ParquetWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { noBoolean, noInt, type ColumnValues } from './column-values.js'

const types = {
  doubles: 'DOUBLE',
  ints: 'INT32',
  booleans: 'BOOLEAN',
  names: 'BYTE_ARRAY',
  texts: 'BYTE_ARRAY',
  same: 'BYTE_ARRAY',
} as const satisfies Record<ColumnValues['kind'], string>

type ColumnChunk = ParquetWriter['row_groups'][number]['columns'][number]

/** Which rows have a value. */
interface Presence {
  readonly count: number
  readonly missing: number
  readonly isMissing: (row: number) => boolean
}

/** Values of a page, and those of its dictionary. */
interface Page {
  readonly encoding: 'PLAIN' | 'RLE_DICTIONARY'
  readonly bytes: Uint8Array
  readonly dictionary?: { readonly count: number; readonly bytes: Uint8Array }
}

/**
 * Writes a column of a group of rows as one page, with a dictionary if values repeat. Does what `ParquetWriter.write` does for
 * arrays of values, in a fraction of the time: numbers are copied, names are encoded once.
 */
export function writePages(writer: ByteWriter, name: string, values: ColumnValues): ColumnChunk {
  const start = writer.offset
  const presence = presenceOf(values)
  const { encoding, bytes, dictionary } = pageOf(values, presence)
  if (dictionary) {
    writePageHeader(writer, {
      type: 'DICTIONARY_PAGE',
      uncompressed_page_size: dictionary.bytes.length,
      compressed_page_size: dictionary.bytes.length,
      dictionary_page_header: { num_values: dictionary.count, encoding: 'PLAIN' },
    })
    writer.appendBytes(dictionary.bytes)
  }
  const pageStart = writer.offset
  const levels = levelsOf(presence)
  writePageHeader(writer, {
    type: 'DATA_PAGE_V2',
    uncompressed_page_size: levels.length + bytes.length,
    compressed_page_size: levels.length + bytes.length,
    data_page_header_v2: {
      num_values: presence.count,
      num_nulls: presence.missing,
      num_rows: presence.count,
      encoding,
      definition_levels_byte_length: levels.length,
      repetition_levels_byte_length: 0,
      is_compressed: false,
    },
  })
  writer.appendBytes(levels)
  writer.appendBytes(bytes)
  const size = BigInt(writer.offset - start)
  return {
    meta_data: {
      type: types[values.kind],
      encodings: dictionary ? ['PLAIN', encoding] : [encoding],
      path_in_schema: [name],
      codec: 'UNCOMPRESSED',
      num_values: BigInt(presence.count),
      total_compressed_size: size,
      total_uncompressed_size: size,
      data_page_offset: BigInt(pageStart),
      ...(dictionary && { dictionary_page_offset: BigInt(start) }),
    },
    file_offset: BigInt(start),
  }
}

function presenceOf(values: ColumnValues): Presence {
  switch (values.kind) {
    case 'doubles':
      return counted(values.at.length, (i) => Number.isNaN(values.at[i]!))
    case 'ints':
      return counted(values.at.length, (i) => values.at[i] === noInt)
    case 'booleans':
      return counted(values.at.length, (i) => values.at[i] === noBoolean)
    case 'names':
      return counted(values.at.length, (i) => values.at[i]! < 0)
    case 'texts':
      return counted(values.texts.starts.length, (i) => values.texts.isMissing(i))
    case 'same': {
      const { value, count } = values
      return { count, missing: value === undefined ? count : 0, isMissing: () => value === undefined }
    }
  }
}

function counted(count: number, isMissing: (row: number) => boolean): Presence {
  let missing = 0
  for (let i = 0; i < count; i += 1) if (isMissing(i)) missing += 1
  return { count, missing, isMissing }
}

/** One bit per row: it has a value. */
function levelsOf({ count, missing, isMissing }: Presence): Uint8Array {
  const writer = new ByteWriter(16)
  if (missing === 0 || missing === count) {
    writer.appendVarInt(count << 1)
    writer.appendUint8(missing === 0 ? 1 : 0)
    return writer.getBytes()
  }
  const bits = new Uint8Array(Math.ceil(count / 8))
  for (let i = 0; i < count; i += 1) if (!isMissing(i)) bits[i >> 3]! |= 1 << (i & 7)
  writer.appendVarInt((bits.length << 1) | 1)
  writer.appendBytes(bits)
  return writer.getBytes()
}

function pageOf(values: ColumnValues, presence: Presence): Page {
  const present = presence.count - presence.missing
  if (present === 0) return { encoding: 'PLAIN', bytes: new Uint8Array(0) }
  switch (values.kind) {
    case 'doubles':
    case 'ints':
      return numbersPage(values.at, presence, present)
    case 'booleans':
      return booleansPage(values.at, present)
    case 'names':
      return namesPage(values.at, values.texts, present)
    case 'texts':
      return { encoding: 'PLAIN', bytes: textBytes(values, presence) }
    case 'same':
      return repeated(plainTexts([values.value!]), present)
  }
}

function numbersPage(all: Float64Array | Int32Array, { missing, isMissing }: Presence, count: number): Page {
  let values = all
  if (missing > 0) {
    values = all instanceof Float64Array ? new Float64Array(count) : new Int32Array(count)
    let next = 0
    for (let i = 0; i < all.length; i += 1) if (!isMissing(i)) values[next++] = all[i]!
  }
  const [first] = values
  let same = 1
  while (same < count && values[same] === first) same += 1
  const isSame = same === count
  const bytes = littleEndian(isSame ? values.slice(0, 1) : values)
  return isSame ? repeated(bytes, count) : { encoding: 'PLAIN', bytes }
}

function littleEndian(values: Float64Array | Int32Array): Uint8Array {
  const bytes = Buffer.from(values.buffer, values.byteOffset, values.byteLength)
  if (os.endianness() === 'LE') return bytes
  const swapped = Buffer.from(bytes)
  return values.BYTES_PER_ELEMENT === 8 ? swapped.swap64() : swapped.swap32()
}

function booleansPage(values: Uint8Array, present: number): Page {
  const bits = new Uint8Array(Math.ceil(present / 8))
  let next = 0
  for (const value of values) {
    if (value === noBoolean) continue
    if (value === 1) bits[next >> 3]! |= 1 << (next & 7)
    next += 1
  }
  return { encoding: 'PLAIN', bytes: bits }
}

/** A dictionary if texts repeat. */
function namesPage(codes: Int32Array, texts: readonly string[], present: number): Page {
  const places = new Int32Array(texts.length).fill(-1)
  const used: string[] = []
  const indexes = new Uint32Array(present)
  let next = 0
  for (const code of codes) {
    if (code < 0) continue
    if (places[code]! < 0) places[code] = used.push(texts[code]!) - 1
    indexes[next++] = places[code]!
  }
  if (used.length === 1) return repeated(plainTexts(used), present)
  if (used.length * 2 > present)
    return { encoding: 'PLAIN', bytes: plainTexts([...indexes].map((index) => used[index]!)) }
  const width = 32 - Math.clz32(used.length - 1)
  return {
    encoding: 'RLE_DICTIONARY',
    bytes: packed(indexes, width),
    dictionary: { count: used.length, bytes: plainTexts(used) },
  }
}

/** Numbers of `width` bits. */
function packed(values: Uint32Array, width: number): Uint8Array {
  const groups = Math.ceil(values.length / 8)
  const writer = new ByteWriter(8 + groups * width)
  writer.appendUint8(width)
  writer.appendVarInt((groups << 1) | 1)
  const bytes = new Uint8Array(groups * width)
  let [bits, count, at] = [0, 0, 0]
  for (const value of values) {
    bits |= value << count
    count += width
    while (count >= 8) {
      bytes[at++] = bits & 0xff
      bits >>>= 8
      count -= 8
    }
  }
  if (count > 0) bytes[at] = bits & 0xff
  writer.appendBytes(bytes)
  return writer.getBytes()
}

/** A dictionary of one value, and a run of it. */
function repeated(bytes: Uint8Array, count: number): Page {
  const writer = new ByteWriter(16)
  writer.appendUint8(1)
  writer.appendVarInt(count << 1)
  writer.appendUint8(0)
  return { encoding: 'RLE_DICTIONARY', bytes: writer.getBytes(), dictionary: { count: 1, bytes } }
}

function plainTexts(texts: readonly string[]): Uint8Array {
  const sizes = texts.map((text) => Buffer.byteLength(text))
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size + 4, 0))
  let at = 0
  for (const [i, text] of texts.entries()) {
    at = bytes.writeUInt32LE(sizes[i]!, at)
    at += bytes.write(text, at)
  }
  return bytes
}

function textBytes({ texts }: ColumnValues & { readonly kind: 'texts' }, { count }: Presence): Uint8Array {
  if (texts.isInOrder) return texts.bytes
  const all: string[] = []
  for (let i = 0; i < count; i += 1) {
    const text = texts.at(i)
    if (text !== undefined) all.push(text)
  }
  return plainTexts(all)
}
