/** Faults that the format's own reader refuses (reference/session-file.md, 2.6), as a list of complaints. */

import type { Loose } from './session-json-stage.js'

const topLevel = [
  'id',
  'started_at',
  'ended_at',
  'transport',
  'server_command',
  'server_url',
  'messages',
  'metadata',
]
const ofMessage = [
  'proxy_id',
  'sequence',
  'timestamp',
  'direction',
  'transport',
  'jsonrpc_id',
  'method',
  'correlated_id',
  'modified',
  'payload',
]
const transports = ['stdio', 'sse', 'streamable-http']
const startOrEnd = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z$/
const iso = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)?$/

/** @param strict the documented order and the very form in which the reference writes */
export function complaintsAbout(text: string, strict = true): string[] {
  const found: string[] = []
  const check = (isRight: boolean, what: string): void => {
    if (!isRight) found.push(what)
  }
  check(!/[\ud800-\udfff]/u.test(text), 'lone surrogates')
  check(depthOf(text) <= 200, 'deeper than pydantic reads')
  check(!/(?<![\d.])\d{4301}/.test(withoutStrings(text)), 'a number too long for Python')
  const file = JSON.parse(text) as Record<string, Loose>
  const names = Object.keys(file)
  check(
    topLevel.every((name) => names.includes(name)),
    'a missing member',
  )
  if (strict)
    check(names.filter((name) => topLevel.includes(name)).join() === topLevel.join(), `order ${names.join()}`)
  check(typeof file['id'] === 'string', 'id')
  check(transports.includes(file['transport']), 'transport')
  const isMoment = (value: unknown): boolean => typeof value === 'number' || iso.test(String(value))
  check(isMoment(file['started_at']), `started_at ${file['started_at']}`)
  check(file['ended_at'] === null || isMoment(file['ended_at']), `ended_at ${file['ended_at']}`)
  if (strict) check(startOrEnd.test(file['started_at']), `started_at ${file['started_at']}`)
  for (const name of ['server_command', 'server_url']) check(file[name] === null || isText(file[name]), name)
  check(isObject(file['metadata']), 'metadata')
  check(Array.isArray(file['messages']), 'messages')
  for (const [i, message] of (file['messages'] as Record<string, Loose>[]).entries()) {
    const keys = Object.keys(message)
    const say = (isRight: boolean, what: string): void => check(isRight, `message ${i}: ${what}`)
    say(
      ofMessage.every((name) => keys.includes(name)),
      'a missing member',
    )
    if (strict)
      say(keys.filter((name) => ofMessage.includes(name)).join() === ofMessage.join(), `order ${keys.join()}`)
    say(isText(message['proxy_id']) && message['proxy_id'].trim() !== '', 'proxy_id')
    say(Number.isInteger(message['sequence']) && message['sequence'] >= 0, 'sequence')
    say(
      iso.test(message['timestamp']) && typeof message['timestamp'] === 'string',
      `timestamp ${message['timestamp']}`,
    )
    say(['client_to_server', 'server_to_client'].includes(message['direction']), 'direction')
    say(transports.includes(message['transport']), 'transport')
    const id = message['jsonrpc_id']
    say(id === null || typeof id === 'string' || typeof id === 'number', 'jsonrpc_id')
    say(message['method'] === null || typeof message['method'] === 'string', 'method')
    say(message['correlated_id'] === null || isText(message['correlated_id']), 'correlated_id')
    say(typeof message['modified'] === 'boolean', 'modified')
    say(isMessage(message['payload']), `payload ${JSON.stringify(message['payload'])}`)
    if ('original_payload' in message) {
      say(message['modified'] === true, 'original_payload of a message that is not modified')
      say(isMessage(message['original_payload']), 'original_payload')
    }
  }
  return found
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown): value is string => typeof value === 'string' && !/\p{Surrogate}/u.test(value)
const isId = (value: unknown): boolean => isText(value) || Number.isInteger(value) || value === Infinity

function isMessage(value: unknown): boolean {
  if (!isObject(value) || value['jsonrpc'] !== '2.0' || !isText(JSON.stringify(value))) return false
  const params = value['params']
  if ('method' in value) {
    if ('result' in value || 'error' in value || !isText(value['method'])) return false
    return (
      (params === undefined || params === null || isObject(params)) && (!('id' in value) || isId(value['id']))
    )
  }
  if (!isId(value['id'])) return false
  if ('result' in value) return isObject(value['result']) && !('error' in value)
  const error = value['error']
  return isObject(error) && Number.isInteger(error['code']) && isText(error['message'])
}

function withoutStrings(text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, '""')
}

function depthOf(text: string): number {
  let depth = 0
  let deepest = 0
  for (const [bracket] of withoutStrings(text).matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1
    deepest = Math.max(deepest, depth)
  }
  return deepest
}
