import type { FilterSubject } from '../../filter/index.js'

/** The message by itself: an answer without the names of its request. The subject itself for what is no answer. */
export function ownView(subject: FilterSubject): FilterSubject {
  return subject.kind === 'result' || subject.kind === 'error' ? new OwnView(subject) : subject
}

class OwnView implements FilterSubject {
  readonly method = null
  readonly name = null
  readonly #of: FilterSubject

  constructor(of: FilterSubject) {
    this.#of = of
  }

  get kind() {
    return this.#of.kind
  }
  get direction() {
    return this.#of.direction
  }
  get id() {
    return this.#of.id
  }
  get sequence() {
    return this.#of.sequence
  }
  get status() {
    return this.#of.status
  }
  get httpStatus() {
    return this.#of.httpStatus
  }
  get errorCode() {
    return this.#of.errorCode
  }
  get latencyMs() {
    return this.#of.latencyMs
  }
  get sizeBytes() {
    return this.#of.sizeBytes
  }
  get timeMs() {
    return this.#of.timeMs
  }
  get conversation() {
    return this.#of.conversation
  }
  get transport() {
    return this.#of.transport
  }
  get rule() {
    return this.#of.rule
  }
  get findings() {
    return this.#of.findings
  }
  is(flag: Parameters<FilterSubject['is']>[0]): boolean {
    return this.#of.is(flag)
  }
  raw(): string | null {
    return this.#of.raw()
  }
}
