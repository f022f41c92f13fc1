/** What is kept of each row of a lane besides its model, in columns: what of them was never written costs no memory. */
export class LaneRows {
  length = 0
  /** Number of the row over all lanes. */
  global = new Int32Array(0)
  /** Where its line is. */
  offset = new Float64Array(0)
  lineSize = new Uint32Array(0)
  /** Microseconds since 1970. */
  at = new Float64Array(0)
  /** Words. */
  method = new Uint32Array(0)
  subject = new Uint32Array(0)
  note = new Uint32Array(0)
  conversation = new Uint32Array(0)
  rule = new Uint32Array(0)
  /** What `idNumber` made of it. */
  id = new Int32Array(0)
  extra = new Uint8Array(0)
  /** 0 where there is none. */
  httpStatus = new Uint16Array(0)

  /** A new row, all zero. */
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
