import type { HttpContext, HttpHeaders, HttpPhases, SseContext, TapeRecord } from '../../model/index.js'
import { kindAt } from '../../wire/index.js'
import { LineMembers } from './line-members.js'

/** HTTP data of a message line; undefined, and kept as it is, unless in the form that wiretape writes. */
export function decodeHttpContext(line: LineMembers): HttpContext | undefined {
  return nested(line, 'http', (members) => {
    const exchange = members.count('exchange')
    const method = members.string('method')
    const path = members.string('path')
    const status = members.count('status')
    const headers = decodeHeaders(members, 'headers')
    const phases = decodePhases(members)
    if (exchange === undefined) return undefined
    return {
      exchange,
      ...(method !== undefined && { method }),
      ...(path !== undefined && { path }),
      ...(status !== undefined && { status }),
      ...(headers && { headers }),
      ...(phases && { phases }),
    }
  })
}

/** As `decodeHttpContext`, for an event. */
export function decodeSse(line: LineMembers): SseContext | undefined {
  return nested(line, 'sse', (members) => {
    const event = members.string('event')
    const id = members.string('id')
    const retry = members.count('retry')
    return {
      ...(event !== undefined && { event }),
      ...(id !== undefined && { id }),
      ...(retry !== undefined && { retry }),
    }
  })
}

/** A line of type `http`; undefined when it has another form. */
export function decodeHttp(line: LineMembers): TapeRecord | undefined {
  const t = line.string('t')
  const us = line.number('us')
  const exchange = line.count('exchange')
  const conversation = line.string('conv')
  const method = line.string('method')
  const path = line.string('path')
  if (t === undefined || exchange === undefined || method === undefined || path === undefined)
    return undefined
  const requestHeaders = decodeHeaders(line, 'requestHeaders')
  const requestBody = line.string('requestBody')
  const status = line.count('status')
  const headers = decodeHeaders(line, 'headers')
  const phases = decodePhases(line)
  const body = line.string('body')
  const bytes = line.string('bytes')
  const sizeBytes = line.count('sizeBytes')
  const sse = decodeSse(line)
  const why = line.string('why')
  return {
    type: 'http',
    t,
    ...(us !== undefined && { us }),
    exchange,
    ...(conversation !== undefined && { conversation }),
    method,
    path,
    ...(requestHeaders && { requestHeaders }),
    ...(requestBody !== undefined && { requestBody }),
    ...(status !== undefined && { status }),
    ...(headers && { headers }),
    ...(phases && { phases }),
    ...(body !== undefined && { body }),
    ...(bytes !== undefined && { bytes }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(sse && { sse }),
    ...(why !== undefined && { why }),
    ...line.rest(),
  }
}

/** As `decodeHttpContext`, for phases. */
function decodePhases(line: LineMembers): HttpPhases | undefined {
  return nested(line, 'phases', (members) => {
    const dnsMs = members.number('dnsMs')
    const connectMs = members.number('connectMs')
    const tlsMs = members.number('tlsMs')
    const waitMs = members.number('waitMs')
    if (waitMs === undefined) return undefined
    return {
      ...(dnsMs !== undefined && { dnsMs }),
      ...(connectMs !== undefined && { connectMs }),
      ...(tlsMs !== undefined && { tlsMs }),
      waitMs,
    }
  })
}

/** Reads an object of the line; undefined, and kept as it is, if it has members that `read` does not know. */
function nested<T>(
  line: LineMembers,
  name: string,
  read: (members: LineMembers) => T | undefined,
): T | undefined {
  const object = line.object.object(name)
  const members = object && new LineMembers(object)
  const value = members && read(members)
  if (value === undefined || members?.rest().extra) return undefined
  line.use(name)
  return value
}

/** Pairs of strings, or nothing. */
function decodeHeaders(line: LineMembers, name: string): HttpHeaders | undefined {
  const text = line.object.raw(name)
  if (text === undefined || kindAt(text, 0) !== 'array') return undefined
  const value = JSON.parse(text) as unknown[]
  const pairs = value.filter(isHeader)
  if (pairs.length < value.length) return undefined
  line.use(name)
  return pairs
}

function isHeader(value: unknown): value is [string, string] {
  return (
    Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'string'
  )
}
