import { grownColumns } from '../../src/model/index.js'

/** Unwritten parts cost no memory. */
function columnsOf(capacity: number) {
  return {
    /** Row number over all lanes. */
    global: new Int32Array(capacity),
    /** Position of its line. */
    offset: new Float64Array(capacity),
    lineSize: new Uint32Array(capacity),
    /** Microseconds since 1970. */
    at: new Float64Array(capacity),
    /** Word numbers. */
    method: new Uint32Array(capacity),
    subject: new Uint32Array(capacity),
    note: new Uint32Array(capacity),
    conversation: new Uint32Array(capacity),
    rule: new Uint32Array(capacity),
    /** The result of `idNumber`. */
    id: new Int32Array(capacity),
    extra: new Uint8Array(capacity),
    /** 0 for none. */
    httpStatus: new Uint16Array(capacity),
  }
}

/** The data of each row besides its model. */
export class LaneRows {
  length = 0
  /** Replaced as rows are added. */
  columns = columnsOf(0)

  /** Adds a row of zeros. */
  add(): number {
    if (this.length === this.columns.global.length)
      this.columns = grownColumns(this.columns, columnsOf(Math.max(1024, 2 * this.length)))
    this.length += 1
    return this.length - 1
  }
}
