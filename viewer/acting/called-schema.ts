import { useEffect, useState } from 'preact/hooks'
import { readEnvelope } from '../../src/wire/index.js'
import { door } from './door.js'
import { objectIn } from './values.js'

/** Pointer to a tool's arguments in a request. */
export const argumentsAt = '/params/arguments'

/** The recorded inputSchema of the tool that a request calls; null if there is none. */
async function schemaOf(request: string): Promise<unknown> {
  const { method, subject } = readEnvelope(request, 0)
  if (method !== 'tools/call' || subject === undefined) return null
  const histories = await door.offers().catch(() => [])
  for (const { offered } of histories)
    for (const { kind, name, text } of offered)
      if (kind.startsWith('tool') && name === subject)
        return objectIn(JSON.parse(text))['inputSchema'] ?? null
  return null
}

/** Undefined until known. */
export function useCalledSchema(request: string): unknown {
  const [schema, setSchema] = useState<unknown>(undefined)
  useEffect(() => {
    void schemaOf(request).then(setSchema)
  }, [request])
  return schema
}
