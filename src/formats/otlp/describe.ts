import type { MetaRecord, Origin } from '../../model/index.js'
import { decodeString, JsonObject } from '../../wire/index.js'
import type { ToldMessage } from '../told/told.js'
import { boundedName, boundedText, type Attribute, type Attributes, type Resource } from './telemetry.js'

/** Attributes set by the user (`OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`) take precedence. */
export function resourceOf(meta: MetaRecord | undefined, own: Attributes = []): Resource {
  const label = meta?.label ?? ''
  const { session, version } = meta?.wiretape ?? {}
  const attributes = new Map(own)
  const add = (key: string, value: string | undefined): void => {
    if (value !== undefined && value !== '' && !attributes.has(key)) attributes.set(key, boundedText(value))
  }
  add('service.name', label === '' ? 'mcp-server' : label)
  add('service.instance.id', session)
  add('wiretape.session', session)
  return { attributes: [...attributes], version: version === '' ? undefined : version }
}

/** Transport of a message: for spans and for both sides' metrics. */
export interface Way {
  readonly network: Attributes
  /** For a server with a URL. */
  readonly server: Attributes
}

/** @param isOwn whether wiretape recorded it: its recorder speaks HTTP/1.1 with both sides. Other recordings do not name the version. */
export function wayOf({ transport, url }: Origin, isOwn: boolean): Way {
  if (transport === 'stdio') return { network: [['network.transport', 'pipe']], server: [] }
  const network: Attributes = [
    ['network.transport', 'tcp'],
    ['network.protocol.name', 'http'],
    ...(isOwn ? [['network.protocol.version', '1.1'] as const] : []),
  ]
  const [, scheme = '', host, port] =
    /^([a-z]+):\/\/(?:[^/@]*@)?(\[[^\]]+\]|[^/?#:]+)(?::(\d+))?/i.exec(url ?? '') ?? []
  if (host === undefined) return { network, server: [] }
  const number = Number(port ?? (scheme.toLowerCase() === 'https' ? 443 : 80))
  return {
    network,
    server: [
      ['server.address', boundedText(host)],
      ['server.port', number],
    ],
  }
}

/** Description of a request or notification in terms of the conventions. */
export interface Operation {
  /** Name of its span. */
  readonly name: string
  /** Low-cardinality attributes: for spans and metrics. */
  readonly common: Attributes
  /** For its span only. */
  readonly own: Attributes
}

const ofResources = /^(?:resources\/(?:read|subscribe|unsubscribe)|notifications\/resources\/updated)$/

export function operationOf({ part, text }: ToldMessage, version: string | undefined): Operation {
  const { method = '', subject, id } = part.envelope
  const named = boundedName(method)
  const common: Attribute[] = [['mcp.method.name', named]]
  const own: Attribute[] = []
  const isTool = method === 'tools/call'
  const target = isTool || method === 'prompts/get' ? subject && boundedName(subject) : undefined
  if (isTool) {
    common.push(['gen_ai.operation.name', 'execute_tool'])
    // OpenInference's name of the same: Phoenix lists spans by it.
    own.push(['openinference.span.kind', 'TOOL'])
  }
  if (target !== undefined) common.push([isTool ? 'gen_ai.tool.name' : 'gen_ai.prompt.name', target])
  else if (subject !== undefined && ofResources.test(method))
    own.push(['mcp.resource.uri', boundedText(subject)])
  if (id !== undefined && id !== 'null')
    own.push(['jsonrpc.request.id', boundedText(id.startsWith('"') ? decodeString(id, 0, id.length) : id)])
  const jsonrpc = /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"/.test(text)
    ? '2.0'
    : new JsonObject(text, 0).string('jsonrpc')
  if (jsonrpc !== undefined && jsonrpc !== '2.0')
    common.push(['jsonrpc.protocol.version', boundedName(jsonrpc)])
  if (version !== undefined) common.push(['mcp.protocol.version', boundedName(version)])
  return { name: target === undefined ? named : `${named} ${target}`, common, own }
}

/** Outcome of an operation. */
export interface Outcome {
  readonly attributes: Attributes
  readonly error?: string
}

export function outcomeOf({ part }: ToldMessage): Outcome {
  const { kind, errorCode, errorMessage = '', toolError } = part.envelope
  if (kind === 'error') {
    if (errorCode === undefined)
      return { attributes: [['error.type', '_OTHER']], error: boundedText(errorMessage) }
    const code = boundedName(errorCode)
    return {
      attributes: [
        ['error.type', code],
        ['rpc.response.status_code', code],
      ],
      error: boundedText(errorMessage),
    }
  }
  return toolError ? { attributes: [['error.type', 'tool_error']], error: '' } : { attributes: [] }
}
