/** Message numbers in the order of the tape, shared by all builders. */
export interface Numbers {
  next: number
}
