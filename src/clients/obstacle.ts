import { existsSync } from 'node:fs'
import { memberOf } from './config/index.js'
import type { Launch, ServerEntry } from './entry.js'

type Remote = Extract<Launch, { kind: 'remote' }>

/** Why recording a server would break its client; undefined if it would not. */
export async function obstacleOf(
  { node, launch }: ServerEntry,
  probe: (launch: Remote) => Promise<string | undefined>,
): Promise<string | undefined> {
  if (launch.kind === 'other') return launch.reason
  if (launch.kind === 'stdio') return commandObstacle([launch.command, ...launch.args])
  const login = logins.find((key) => memberOf(node, key))
  if (login !== undefined)
    return `its login is in ${login}, which a bridge cannot use: record the client with wiretape record --forward -- CLIENT`
  return addressObstacle(launch.url) ?? probe(launch)
}

/** Members for a login to a remote server. Strict clients refuse a local server that has one. */
const logins = [
  'bearer_token_env_var',
  'bearer_token',
  'env_http_headers',
  'oauth',
  'oauth_resource',
  'auth',
  'authProviderType',
  'scopes',
  'headersHelper',
]

function commandObstacle(words: readonly string[]): string | undefined {
  const [command = ''] = words
  if (/\s/.test(command) && !existsSync(command))
    return 'its command is a shell command line: move the arguments to their own list'
  const isOurs = words.some(
    (word, i) => /(?:^|[/\\])wiretape(?:\.js|\.cmd|@.*)?$/.test(word) && words[i + 1] === 'record',
  )
  return isOurs ? 'it already starts wiretape record' : undefined
}

/** Refuses URLs with secrets: the argument list is readable by every user of the machine. */
function addressObstacle(text: string): string | undefined {
  if (!URL.canParse(text)) return 'its address is not a plain URL'
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) return `its address starts with ${url.protocol}`
  if (url.username !== '' || url.password !== '' || url.search !== '')
    return 'its address may contain a secret (a query or a login), which the argument list would expose'
  return undefined
}
