/** Exit code set by a command's action. */
export type Outcome = { code: number }
