/** How the server of a recording is reached. */
export interface RecordedServer {
  /** The whole command line, or the URL. */
  readonly shown: string
  /** Where a command runs. */
  readonly folder?: string
  /** Names of the variables that a command gets from the environment of wiretape. */
  readonly environment?: readonly string[]
  readonly command?: readonly string[]
  readonly url?: string
  /** Why it may not be run; it may be copied. */
  readonly why?: string
}
