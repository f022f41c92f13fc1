/** A client's format of one server. */
export interface Dialect {
  /** The command: a string beside `args`, or, with `args: null`, one list of the command and its arguments. */
  readonly command: string
  readonly args: string | null
  readonly env: string
  /** Member names for the URL of a remote server, the preferred one first. */
  readonly urls: readonly string[]
  readonly headers: string
  /** The member that distinguishes stdio from remote, and its value for stdio. */
  readonly kind: { readonly key: string; readonly stdio: string }
  /** Syntax of environment variables in values, for messages only. */
  readonly variable: string
}

const plain: Dialect = {
  command: 'command',
  args: 'args',
  env: 'env',
  urls: ['url'],
  headers: 'headers',
  kind: { key: 'type', stdio: 'stdio' },
  variable: '${NAME}',
}

export const dialects = {
  plain,
  cursor: { ...plain, variable: '${env:NAME}' },
  windsurf: { ...plain, urls: ['serverUrl', 'url'], variable: '${env:NAME}' },
  gemini: { ...plain, urls: ['httpUrl', 'url'] },
  copilot: { ...plain, kind: { key: 'type', stdio: 'local' } },
  kimi: { ...plain, kind: { key: 'transport', stdio: 'stdio' } },
  goose: { ...plain, command: 'cmd', env: 'envs', urls: ['uri', 'url'] },
  codex: { ...plain, headers: 'http_headers' },
  opencode: {
    ...plain,
    args: null,
    env: 'environment',
    kind: { key: 'type', stdio: 'local' },
    variable: '{env:NAME}',
  },
} satisfies Record<string, Dialect>
