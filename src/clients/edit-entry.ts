import type { Dialect } from './catalogue/index.js'
import { memberOf, nodeText, type ConfigNode, type Splice, type Splicer } from './config/index.js'
import type { Launch } from './entry.js'
import {
  readWrapping,
  remoteWords,
  stdioWords,
  variableOf,
  type WrapOptions,
  type Wrapping,
} from './wrapping.js'

/** The splices of a change to one entry, or the reason that it is impossible. */
export type EntryEdit =
  | { readonly splices: readonly Splice[]; readonly reason?: never }
  | { readonly splices?: never; readonly reason: string }

/** Puts the recorder in front of a server. Changes only the members that start or reach the server. */
export function wrapEntry(
  node: ConfigNode,
  launch: Launch,
  dialect: Dialect,
  splicer: Splicer,
  options: WrapOptions,
): EntryEdit {
  if (launch.kind === 'other') return { reason: launch.reason }
  if (launch.kind === 'remote') return wrapRemote(node, launch, dialect, splicer, options)
  const command = memberOf(node, dialect.command)!
  if (dialect.args === null) {
    const words = [options.launcher, ...stdioWords('', false, options).slice(0, -1)]
    return { splices: [splicer.prepend(command.value, words)] }
  }
  const args = memberOf(node, dialect.args)
  const words = stdioWords(launch.command, !args, options)
  const added = args
    ? splicer.prepend(args.value, words)
    : splicer.insertBefore(command, dialect.args, splicer.listText(words))
  return { splices: [added, splicer.setText(command.value, options.launcher)] }
}

function wrapRemote(
  node: ConfigNode,
  launch: Extract<Launch, { kind: 'remote' }>,
  dialect: Dialect,
  splicer: Splicer,
  options: WrapOptions,
): EntryEdit {
  const urlMember = dialect.urls.map((key) => memberOf(node, key)).find((member) => member !== undefined)!
  const headers = memberOf(node, dialect.headers)
  const kind = memberOf(node, dialect.kind.key)
  if (memberOf(node, dialect.env)) return { reason: `it has both ${urlMember.key} and ${dialect.env}` }
  if (headers && headers.value.start < node.start) return { reason: 'its headers are in another table' }
  const names = new Set(launch.headers.map(([name]) => variableOf(name)))
  if (names.size < launch.headers.length) return { reason: 'two of its headers have the same name' }
  const kindWord = kind ? (nodeText(kind.value) ?? '') : ''
  const words = remoteWords(launch, urlMember.key, kindWord, options)
  const isList = dialect.args === null
  const splices: Splice[] = []
  if (isList) {
    splices.push(splicer.setKey(urlMember, dialect.command), {
      ...splicer.setText(urlMember.value, ''),
      text: splicer.listText([options.launcher, ...words]),
    })
  } else {
    splices.push(
      splicer.insertBefore(urlMember, dialect.args, splicer.listText(words)),
      splicer.setKey(urlMember, dialect.command),
      splicer.setText(urlMember.value, options.launcher),
    )
  }
  if (kind) splices.push(splicer.setText(kind.value, dialect.kind.stdio))
  if (headers) {
    splices.push(splicer.setKey(headers, dialect.env))
    for (const member of headers.value.members) splices.push(splicer.setKey(member, variableOf(member.key)))
  }
  return { splices }
}

/** Removes the recorder by place: other later changes of the entry stay. */
export function unwrapEntry(node: ConfigNode, launch: Launch, dialect: Dialect, splicer: Splicer): EntryEdit {
  const wrapping = readWrapping(launch)
  if (wrapping === undefined) return { reason: 'it is not recorded' }
  if (wrapping === 'damaged') return { reason: 'its arguments no longer contain the original command' }
  if (wrapping.original.kind === 'remote') return unwrapRemote(node, wrapping, dialect, splicer)
  const command = memberOf(node, dialect.command)!
  if (dialect.args === null) {
    // The launcher precedes the words; the original command stays.
    return { splices: [splicer.dropFirst(command.value, wrapping.prefix)] }
  }
  const args = memberOf(node, dialect.args)!
  return {
    splices: [
      wrapping.bare ? splicer.remove(node, args) : splicer.dropFirst(args.value, wrapping.prefix),
      // Keep the current spelling: the client that last wrote the file chose the quotes.
      splicer.move(args.value.items[wrapping.target]!.value, command.value),
    ],
  }
}

function unwrapRemote(node: ConfigNode, wrapping: Wrapping, dialect: Dialect, splicer: Splicer): EntryEdit {
  const { urlKey, kindWord, variables, target } = wrapping
  const command = memberOf(node, dialect.command)!
  const args = dialect.args === null ? undefined : memberOf(node, dialect.args)
  const kind = memberOf(node, dialect.kind.key)
  const env = memberOf(node, dialect.env)
  const splices: Splice[] = [
    splicer.setKey(command, urlKey),
    // In a single list of command and arguments, the launcher precedes them.
    args
      ? splicer.move(args.value.items[target]!.value, command.value)
      : splicer.move(command.value.items[target + 1]!.value, command.value),
    ...(args ? [splicer.remove(node, args)] : []),
    ...(kind && kindWord !== '' ? [splicer.setText(kind.value, kindWord)] : []),
  ]
  if (!env) return { splices }
  const foreign = env.value.members.find(({ key }) => !variables.has(key))
  if (foreign) return { reason: `${dialect.env}.${foreign.key} was added, and a remote entry cannot hold it` }
  splices.push(splicer.setKey(env, dialect.headers))
  for (const member of env.value.members) splices.push(splicer.setKey(member, variables.get(member.key)!))
  return { splices }
}
