import type { StringJson, YamlFile, YamlMember } from '../yaml/index.js'
import type { SavedServer } from './saved-call.js'

const serverNames = ['command', 'env', 'url', 'headers']

/** Reads `server`. Problems are reported to the file, without values, which may be secrets. */
export function parseServer(file: YamlFile, member: YamlMember, fill: StringJson): SavedServer | undefined {
  const place = member.value ?? member.key
  const client = file.string(member.value)
  if (client !== undefined && client !== '') return { client }
  if (file.kind(member.value) !== 'object') {
    file.fail(
      place,
      'server: expected command, url, or the name of a server that a client on this machine has',
    )
    return undefined
  }
  const members = file.knownMembers(member.value!, serverNames, 'server')
  const [command, env, url, headers] = serverNames.map((name) => members.get(name))
  const faults = file.diagnostics.length
  if (command && url) file.fail(url.key, 'url: the server already has command; use only one of them')
  if (!command && !url) file.fail(place, 'server: expected command or url')
  if (env && !command) file.fail(env.key, 'env: expected command as well')
  if (headers && !url) file.fail(headers.key, 'headers: expected url as well')
  if (file.diagnostics.length > faults) return undefined
  if (command) {
    const words = wordsOf(file, command, fill)
    return words && { command: words, env: Object.fromEntries(textsOf(file, env, fill)) }
  }
  const address = memberText(file, url!, fill)
  if (address === undefined) return undefined
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    file.fail(url!.value ?? url!.key, 'url: expected a URL that begins with http:// or https://')
    return undefined
  }
  return { url: address, headers: textsOf(file, headers, fill) }
}

function wordsOf(file: YamlFile, member: YamlMember, fill: StringJson): string[] | undefined {
  const elements = member.value === undefined ? [] : file.elements(member.value)
  const words = elements.map((element) => filled(file, element, fill))
  const wrong = words.findIndex((word) => word === undefined)
  if (wrong < 0 && words.length > 0 && words[0] !== '') return words as string[]
  file.fail(
    elements[wrong] ?? member.value ?? member.key,
    'command: expected a list of strings, numbers in quotes, such as [node, server.js]',
  )
  return undefined
}

function memberText(file: YamlFile, member: YamlMember, fill: StringJson): string | undefined {
  const text = filled(file, member.value, fill)
  if (text === undefined) file.fail(member.value ?? member.key, `${member.name}: expected a string`)
  return text
}

/** A mapping of names to strings. */
function textsOf(
  file: YamlFile,
  member: YamlMember | undefined,
  fill: StringJson,
): (readonly [name: string, value: string])[] {
  if (!member) return []
  if (file.kind(member.value) !== 'object') {
    file.fail(member.value ?? member.key, `${member.name}: expected one name: string per line`)
    return []
  }
  return file.members(member.value!).flatMap((one) => {
    const text = memberText(file, one, fill)
    return text === undefined ? [] : [[one.name, text] as const]
  })
}

/** A string with its variables filled in. A number becomes its digits. */
function filled(file: YamlFile, node: YamlMember['value'], fill: StringJson): string | undefined {
  if (file.kind(node) !== 'string') return undefined
  const json = file.json(node, fill)
  if (json === undefined) return undefined
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : json
}
