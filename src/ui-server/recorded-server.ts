/** How the server of a recording is reached. */
export interface RecordedServer {
  /** The whole command line, or the URL. */
  readonly shown: string
  /** Working directory. */
  readonly folder?: string
  /** Names of variables that a command gets from wiretape's environment. */
  readonly environment?: readonly string[]
  readonly command?: readonly string[]
  readonly url?: string
  /** Why it must not be run; copying is allowed. */
  readonly why?: string
}
