import { z } from 'zod'
import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import type { TapeLister } from '../../tape/index.js'
import type { Io } from '../io.js'
import type { OpenEngine } from '../sql/open-engine.js'
import type { Found } from './answer.js'

export interface ToolContext {
  readonly io: Io
  /** The only folder that is read and searched for names. */
  readonly folder: string
  readonly budget: number
  /** For queries over all recordings. */
  readonly engine: OpenEngine
  /** Reads only changed files again. */
  readonly listTapes: TapeLister
  /** Aborted once no response is expected. */
  readonly signal: AbortSignal
}

export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: z.ZodType
  /** Shapes of its result. */
  readonly about: z.ZodType
  readonly item: z.ZodType
  /** Starts programs or connects to servers. */
  readonly acts?: true
  run(args: unknown, context: ToolContext): Promise<Found>
}

/** Checks the arguments of a tool before it runs. */
export function defineTool<T extends z.ZodType>(tool: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly input: T
  readonly about: z.ZodType
  readonly item: z.ZodType
  readonly acts?: true
  run(args: z.output<T>, context: ToolContext): Promise<Found>
}): Tool {
  return {
    ...tool,
    run(args, context) {
      const read = tool.input.safeParse(args ?? {})
      if (read.success) return tool.run(read.data, context)
      const { path, message } = read.error.issues[0]!
      const place = path.length === 0 ? '' : `${escapeText(path.join('.'))}: `
      throw new WiretapeError('usage', `${tool.name}: ${place}${escapeText(message)}`)
    },
  }
}

/** Names only: a path would let a client read any file. */
export const recordingName = z
  .string()
  .max(300)
  .regex(/^(?!-$)(?!\.{1,2}$)[^/\\\0]+$/, 'must be a name from list_recordings, not a path')
  .describe('A name from list_recordings, a label, the beginning of a session id, or latest')

export const cursor = z
  .string()
  .regex(/^\d{1,9}$/, 'must be the nextCursor of an earlier result')
  .optional()
  .describe('nextCursor of the previous result, for the next page')

export const startOf = (given: string | undefined): number => (given === undefined ? 0 : Number(given))
