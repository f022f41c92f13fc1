const varintType = 0
const eightBytesType = 1
const lengthType = 2
const fourBytesType = 5
const utf8 = new TextEncoder()

/** Writes the protobuf wire format: the field types of OTLP. Fields with their default value are omitted. */
export class ProtobufWriter {
  #memory = new Uint8Array(256)
  #view = new DataView(this.#memory.buffer)
  #size = 0

  varint(field: number, value: number): void {
    if (value === 0) return
    this.#tag(field, varintType)
    this.#raw(value)
  }

  bool(field: number, value: boolean): void {
    if (value) this.oneOf(field, value)
  }

  /** 4 bytes. */
  fixed32(field: number, value: number): void {
    this.#tag(field, fourBytesType)
    this.#room(4)
    this.#view.setUint32(this.#size, value, true)
    this.#size += 4
  }

  /** 8 bytes. */
  fixed64(field: number, value: bigint): void {
    this.#tag(field, eightBytesType)
    this.#raw64(value)
  }

  double(field: number, value: number): void {
    this.#tag(field, eightBytesType)
    this.#rawDouble(value)
  }

  text(field: number, value: string): void {
    if (value !== '') this.oneOf(field, value)
  }

  bytes(field: number, value: Uint8Array): void {
    this.#tag(field, lengthType)
    this.#raw(value.length)
    this.#room(value.length)
    this.#memory.set(value, this.#size)
    this.#size += value.length
  }

  hex(field: number, digits: string): void {
    const pairs = digits.match(/../g) ?? []
    this.bytes(
      field,
      Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)),
    )
  }

  packedFixed64(field: number, values: readonly bigint[]): void {
    this.#tag(field, lengthType)
    this.#raw(values.length * 8)
    for (const value of values) this.#raw64(value)
  }

  packedDouble(field: number, values: readonly number[]): void {
    this.#tag(field, lengthType)
    this.#raw(values.length * 8)
    for (const value of values) this.#rawDouble(value)
  }

  /** For a `oneof`, which is written even with its default value. */
  oneOf(field: number, value: string | number | boolean): void {
    if (typeof value === 'string') return this.bytes(field, utf8.encode(value))
    this.#tag(field, varintType)
    this.#raw(Number(value))
  }

  message(field: number, write: (writer: ProtobufWriter) => void): void {
    const inner = new ProtobufWriter()
    write(inner)
    this.bytes(field, inner.finish())
  }

  finish(): Uint8Array {
    return this.#memory.slice(0, this.#size)
  }

  #tag(field: number, type: number): void {
    this.#raw(field * 8 + type)
  }

  /** For an integer up to 2^53. */
  #raw(value: number): void {
    this.#room(10)
    let rest = value
    while (rest >= 0x80) {
      this.#memory[this.#size++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#memory[this.#size++] = rest
  }

  #raw64(value: bigint): void {
    this.#room(8)
    this.#view.setBigUint64(this.#size, value, true)
    this.#size += 8
  }

  #rawDouble(value: number): void {
    this.#room(8)
    this.#view.setFloat64(this.#size, value, true)
    this.#size += 8
  }

  #room(bytes: number): void {
    if (this.#size + bytes <= this.#memory.length) return
    const larger = new Uint8Array(Math.max(this.#memory.length * 2, this.#size + bytes))
    larger.set(this.#memory)
    this.#memory = larger
    this.#view = new DataView(larger.buffer)
  }
}
