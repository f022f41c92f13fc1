import type { HttpContext, HttpHeaders, HttpPhases, SseContext, TapeRecord } from '../../model/index.js'
import { kindAt } from '../../wire/index.js'
import { LineMembers } from './line-members.js'

/** HTTP data of a message line; undefined, and kept as it is, unless in the form that wiretape writes. */
export function decodeHttpContext(line: LineMembers): HttpContext | undefined {
  const object = line.object.object('http')
  if (!object) return undefined
  const members = new LineMembers(object)
  const exchange = members.count('exchange')
  const method = members.string('method')
  const path = members.string('path')
  const status = members.count('status')
  const headers = decodeHeaders(members, 'headers')
  const phases = decodePhases(members)
  if (exchange === undefined || members.rest().extra) return undefined
  line.use('http')
  return {
    exchange,
    ...(method !== undefined && { method }),
    ...(path !== undefined && { path }),
    ...(status !== undefined && { status }),
    ...(headers && { headers }),
    ...(phases && { phases }),
  }
}

/** As `decodeHttpContext`, for an event. */
export function decodeSse(line: LineMembers): SseContext | undefined {
  const object = line.object.object('sse')
  if (!object) return undefined
  const members = new LineMembers(object)
  const event = members.string('event')
  const id = members.string('id')
  const retry = members.count('retry')
  if (members.rest().extra) return undefined
  line.use('sse')
  return {
    ...(event !== undefined && { event }),
    ...(id !== undefined && { id }),
    ...(retry !== undefined && { retry }),
  }
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
  const object = line.object.object('phases')
  if (!object) return undefined
  const members = new LineMembers(object)
  const dnsMs = members.number('dnsMs')
  const connectMs = members.number('connectMs')
  const tlsMs = members.number('tlsMs')
  const waitMs = members.number('waitMs')
  if (waitMs === undefined || members.rest().extra) return undefined
  line.use('phases')
  return {
    ...(dnsMs !== undefined && { dnsMs }),
    ...(connectMs !== undefined && { connectMs }),
    ...(tlsMs !== undefined && { tlsMs }),
    waitMs,
  }
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
