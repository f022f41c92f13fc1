import { useEffect, useState } from 'preact/hooks'
import type { SchemaOf } from '../editor/editor.js'
import { door } from './door.js'
import { attachedTo } from './state.js'
import { objectIn } from './values.js'

/** Pointer to a tool's arguments in a request. */
export const argumentsAt = '/params/arguments'

/** The inputSchema of each tool of the attached capture, as far as it was recorded. */
async function recordedSchemas(): Promise<ReadonlyMap<string, unknown>> {
  const histories = await door.offers().catch(() => [])
  const offered = histories.find(({ lane }) => lane === attachedTo.value)?.offered ?? []
  return new Map(
    offered
      .filter(({ kind }) => kind === 'tool')
      .map(({ name, text }) => [name, objectIn(JSON.parse(text))['inputSchema']]),
  )
}

/** The recorded schema of the tool that a text calls. Undefined until known. */
export function useCalledSchema(): SchemaOf | undefined {
  const [schemas, setSchemas] = useState<ReadonlyMap<string, unknown> | undefined>(undefined)
  useEffect(() => {
    void recordedSchemas().then(setSchemas)
  }, [])
  return (
    schemas &&
    ((read) => (read('/method') === 'tools/call' ? schemas.get(read('/params/name') ?? '') : undefined))
  )
}
