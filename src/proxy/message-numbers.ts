/** Numbers of messages, in the order of a tape, whoever makes its records. */
export interface Numbers {
  next: number
}
