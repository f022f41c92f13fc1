/** Saved calls as the page of `wiretape ui` lists them. */

/** How calls of a file reach a server. Secrets are redacted. */
export interface SavedServerShown {
  /** Equal only for the same command, environment and folder, or the same URL and headers. */
  readonly key: string
  /** The whole command line, or the URL. */
  readonly shown: string
  /** Working directory of a command. */
  readonly folder?: string
  /** Variables that the file adds to the environment, as `NAME=value`. */
  readonly environment: readonly string[]
  /** `Name: value` */
  readonly headers: readonly string[]
  /** A recording of this machine's user has the same command or URL. */
  readonly isKnown: boolean
}

/** A file of saved calls. */
export interface SavedFile {
  readonly file: string
  readonly calls: readonly {
    readonly name: string
    readonly line: number
    /** Tool, prompt, URI or method. */
    readonly what: string
    readonly server: string
  }[]
  readonly variables: readonly {
    readonly name: string
    /** As a person would type it; undefined without a value in the file, and for secrets. */
    readonly value?: string
    /** The file takes the value from the environment. */
    readonly isSecret: boolean
  }[]
  /** Why its calls cannot run: file, line, what to do. */
  readonly fault?: string
}
