/** One content block of a tool, prompt or resource, as MCP defines them. */
export type Block =
  | { readonly type: 'text'; readonly text: string; readonly role?: string | undefined }
  | {
      readonly type: 'image' | 'audio'
      readonly data: string
      readonly mimeType: string
      readonly role?: string | undefined
    }
  | {
      readonly type: 'link'
      readonly uri: string
      readonly name: string
      readonly description: string
      readonly mimeType: string
    }
  | { readonly type: 'blob'; readonly uri: string; readonly mimeType: string; readonly data: string }
  | { readonly type: 'other'; readonly value: unknown }

type Json = Readonly<Record<string, unknown>>

/** The blocks in a result or in the params of a request; empty if there are none. */
export function blocksIn(value: unknown): Block[] {
  if (!isObject(value)) return []
  const { content, contents, messages } = value
  const blocks: Block[] = []
  for (const one of listOf(content)) blocks.push(blockOf(one))
  for (const one of listOf(contents)) if (isObject(one)) blocks.push(resourceOf(one))
  for (const message of listOf(messages)) {
    if (!isObject(message)) continue
    const role = textOf(message['role'])
    for (const one of listOf(message['content'])) {
      const block = blockOf(one)
      blocks.push(
        block.type === 'text' || block.type === 'image' || block.type === 'audio'
          ? { ...block, role }
          : block,
      )
    }
  }
  return blocks
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return isObject(value) ? [value] : []
}

function blockOf(value: unknown): Block {
  if (!isObject(value)) return { type: 'other', value }
  const { type, text, data, mimeType } = value
  if (type === 'text' && typeof text === 'string') return { type: 'text', text }
  if ((type === 'image' || type === 'audio') && typeof data === 'string')
    return { type, data, mimeType: textOf(mimeType) }
  if (type === 'resource' && isObject(value['resource'])) return resourceOf(value['resource'])
  if (type === 'resource_link' && typeof value['uri'] === 'string') {
    const { uri, name, description } = value
    return {
      type: 'link',
      uri,
      name: textOf(name),
      description: textOf(description),
      mimeType: textOf(mimeType),
    }
  }
  return { type: 'other', value }
}

function resourceOf(value: Json): Block {
  const { uri, text, blob, mimeType } = value
  if (typeof text === 'string') return { type: 'text', text, role: textOf(uri) }
  if (typeof blob === 'string')
    return { type: 'blob', uri: textOf(uri), mimeType: textOf(mimeType), data: blob }
  return { type: 'other', value }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Types that the page renders. SVG is excluded: it may hold links and scripts, though images run none. */
const drawable = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/i
const playable = /^audio\/[\w.+-]+$/i

/** A data URL for an element of the page; undefined for types that are not rendered. */
export function dataUrl(data: string, mimeType: string): string | undefined {
  if (!drawable.test(mimeType) && !playable.test(mimeType)) return undefined
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) return undefined
  return `data:${mimeType};base64,${data.replace(/\s/g, '')}`
}
