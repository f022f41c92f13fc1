import type { z } from 'zod'

/** Undefined unless the text is JSON of this schema. */
export function decodeJson<T extends z.ZodType>(schema: T, text: string): z.infer<T> | undefined {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
