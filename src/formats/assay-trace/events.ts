import type { Discovery } from './discovery.js'
import type { Stamp } from './meaning.js'

/** Identity of a trace. */
export interface Episode {
  readonly id: string
  /** @default <mcp:session> */
  readonly prompt?: string | undefined
  readonly testId?: string | undefined
}

/** Trace V2: one compact object per line, every member always present, in the documented order. */
export function episodeStart(episode: Episode, timestamp: Stamp, seen: Discovery): string {
  const id = JSON.stringify(episode.id)
  const visible = seen.resourceMetadata || seen.scope
  const discovery = {
    visible,
    source_kind: visible ? 'www_authenticate' : 'unknown',
    resource_metadata_visible: seen.resourceMetadata,
    authorization_servers_visible: false,
    scope_challenge_visible: seen.scope,
  }
  const test = episode.testId === undefined ? '' : `,"test_id":${JSON.stringify(episode.testId)}`
  const mcp = `{"authorization_discovery":${JSON.stringify(discovery)}}`
  const meta = `{"source":"mcp_import","episode_id":${id},"mcp":${mcp}${test}}`
  const prompt = JSON.stringify(episode.prompt ?? '<mcp:session>')
  return `{"type":"episode_start","episode_id":${id},"timestamp":${timestamp},"input":{"prompt":${prompt}},"meta":${meta}}\n`
}

export interface Step {
  readonly index: number
  readonly timestamp: Stamp
  readonly name: string
  readonly content: string | null
  /** JSON text. */
  readonly meta: string
}

function stepId(index: number): string {
  return `step_${String(index).padStart(3, '0')}`
}

export function step(episode: Episode, { index, timestamp, name, content, meta }: Step): string {
  return (
    `{"type":"step","episode_id":${JSON.stringify(episode.id)},"step_id":"${stepId(index)}","idx":${index},` +
    `"timestamp":${timestamp},"kind":"tool","name":${JSON.stringify(name)},` +
    `"content":${JSON.stringify(content)},"content_sha256":null,"truncations":[],"meta":${meta}}\n`
  )
}

export interface ToolCall {
  /** Index of its step. */
  readonly index: number
  readonly timestamp: Stamp
  readonly tool: string
  /** JSON text. */
  readonly args: string
  /** JSON text. */
  readonly result: string
  readonly error: string | null
}

export function toolCall(
  episode: Episode,
  { index, timestamp, tool, args, result, error }: ToolCall,
): string {
  return (
    `{"type":"tool_call","episode_id":${JSON.stringify(episode.id)},"step_id":"${stepId(index)}",` +
    `"timestamp":${timestamp},"tool_name":${JSON.stringify(tool)},"call_index":0,"args":${args},` +
    `"args_sha256":null,"result":${result},"result_sha256":null,"error":${JSON.stringify(error)},"truncations":[]}\n`
  )
}

export function episodeEnd(episode: Episode, timestamp: Stamp, finalOutput: string | null): string {
  const output = JSON.stringify(finalOutput)
  return `{"type":"episode_end","episode_id":${JSON.stringify(episode.id)},"timestamp":${timestamp},"outcome":null,"final_output":${output}}\n`
}
