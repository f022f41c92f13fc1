/** What a command's action leaves for the process to end with. */
export type Outcome = { code: number }
