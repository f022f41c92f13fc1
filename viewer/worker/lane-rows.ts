/** Columns with the data of each row besides its model; unwritten parts cost no memory. */
export class LaneRows {
  length = 0
  /** Row number over all lanes. */
  global = new Int32Array(0)
  /** Position of its line. */
  offset = new Float64Array(0)
  lineSize = new Uint32Array(0)
  /** Microseconds since 1970. */
  at = new Float64Array(0)
  /** Word numbers. */
  method = new Uint32Array(0)
  subject = new Uint32Array(0)
  note = new Uint32Array(0)
  conversation = new Uint32Array(0)
  rule = new Uint32Array(0)
  /** The result of `idNumber`. */
  id = new Int32Array(0)
  extra = new Uint8Array(0)
  /** 0 for none. */
  httpStatus = new Uint16Array(0)

  /** Adds a row of zeros. */
  add(): number {
    if (this.length === this.global.length) this.#grow(Math.max(1024, 2 * this.length))
    this.length += 1
    return this.length - 1
  }

  #grow(capacity: number): void {
    this.global = extend(this.global, new Int32Array(capacity))
    this.offset = extend(this.offset, new Float64Array(capacity))
    this.lineSize = extend(this.lineSize, new Uint32Array(capacity))
    this.at = extend(this.at, new Float64Array(capacity))
    this.method = extend(this.method, new Uint32Array(capacity))
    this.subject = extend(this.subject, new Uint32Array(capacity))
    this.note = extend(this.note, new Uint32Array(capacity))
    this.conversation = extend(this.conversation, new Uint32Array(capacity))
    this.rule = extend(this.rule, new Uint32Array(capacity))
    this.id = extend(this.id, new Int32Array(capacity))
    this.extra = extend(this.extra, new Uint8Array(capacity))
    this.httpStatus = extend(this.httpStatus, new Uint16Array(capacity))
  }
}

function extend<T extends { set(from: T): void }>(from: T, to: T): T {
  to.set(from)
  return to
}
