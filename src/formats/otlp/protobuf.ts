/** Writes the protobuf wire format: the field types of OTLP. Fields with their default value are omitted. */
export interface ProtobufWriter {
  varint(field: number, value: number): void
  bool(field: number, value: boolean): void
  /** 4 bytes. */
  fixed32(field: number, value: number): void
  /** 8 bytes. */
  fixed64(field: number, value: bigint): void
  double(field: number, value: number): void
  text(field: number, value: string): void
  bytes(field: number, value: Uint8Array): void
  hex(field: number, digits: string): void
  packedFixed64(field: number, values: readonly bigint[]): void
  packedDouble(field: number, values: readonly number[]): void
  /** For a `oneof`, which is written even with its default value. */
  oneOf(field: number, value: string | number | boolean): void
  message(field: number, write: (writer: ProtobufWriter) => void): void
  finish(): Uint8Array
}

const varintType = 0
const eightBytesType = 1
const lengthType = 2
const fourBytesType = 5
const utf8 = new TextEncoder()

export function createProtobufWriter(): ProtobufWriter {
  let memory = new Uint8Array(256)
  let view = new DataView(memory.buffer)
  let size = 0

  function room(bytes: number): void {
    if (size + bytes <= memory.length) return
    const larger = new Uint8Array(Math.max(memory.length * 2, size + bytes))
    larger.set(memory)
    memory = larger
    view = new DataView(memory.buffer)
  }

  /** For an integer up to 2^53. */
  function raw(value: number): void {
    room(10)
    let rest = value
    while (rest >= 0x80) {
      memory[size++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    memory[size++] = rest
  }

  function tag(field: number, type: number): void {
    raw(field * 8 + type)
  }

  function bytes(field: number, value: Uint8Array): void {
    tag(field, lengthType)
    raw(value.length)
    room(value.length)
    memory.set(value, size)
    size += value.length
  }

  function text(field: number, value: string): void {
    bytes(field, utf8.encode(value))
  }

  function raw64(value: bigint): void {
    room(8)
    view.setBigUint64(size, value, true)
    size += 8
  }

  function rawDouble(value: number): void {
    room(8)
    view.setFloat64(size, value, true)
    size += 8
  }

  return {
    varint(field, value) {
      if (value === 0) return
      tag(field, varintType)
      raw(value)
    },
    bool(field, value) {
      if (!value) return
      tag(field, varintType)
      raw(1)
    },
    fixed32(field, value) {
      tag(field, fourBytesType)
      room(4)
      view.setUint32(size, value, true)
      size += 4
    },
    fixed64(field, value) {
      tag(field, eightBytesType)
      raw64(value)
    },
    double(field, value) {
      tag(field, eightBytesType)
      rawDouble(value)
    },
    text(field, value) {
      if (value !== '') text(field, value)
    },
    bytes,
    hex(field, digits) {
      bytes(
        field,
        Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16)),
      )
    },
    packedFixed64(field, values) {
      tag(field, lengthType)
      raw(values.length * 8)
      for (const value of values) raw64(value)
    },
    packedDouble(field, values) {
      tag(field, lengthType)
      raw(values.length * 8)
      for (const value of values) rawDouble(value)
    },
    oneOf(field, value) {
      if (typeof value === 'string') return text(field, value)
      tag(field, varintType)
      raw(Number(value))
    },
    message(field, write) {
      const inner = createProtobufWriter()
      write(inner)
      bytes(field, inner.finish())
    },
    finish: () => memory.slice(0, size),
  }
}
