import { z } from 'zod'
import { recordingsIn } from '../data-folder.js'
import type { Io } from '../io.js'
import { analysisTools } from './analysis-tools.js'
import { answerOf, type Answer } from './answer.js'
import { readingTools } from './reading-tools.js'
import { outputRedactor } from './safe.js'
import type { Tool } from './tool.js'

/** The tools of the server, as its clients see them. */
export interface Toolbox {
  /** Elements of `tools/list`. */
  readonly listed: readonly unknown[]
  has(name: string): boolean
  /** @throws WiretapeError when arguments or recordings are at fault */
  call(name: string, args: unknown): Promise<Answer>
}

const answerShape = z.object({
  notice: z.string(),
  about: z.unknown(),
  items: z.array(z.unknown()),
  nextCursor: z.string().nullable(),
  more: z.string().nullable(),
})

const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

export function createToolbox(budget: number, io: Io): Toolbox {
  const tools = new Map<string, Tool>([...readingTools, ...analysisTools].map((tool) => [tool.name, tool]))
  const folder = recordingsIn(io.dataFolder)
  const outputSchema = schemaOf(answerShape)
  return {
    listed: [...tools.values()].map(({ name, title, description, input }) => ({
      name,
      title,
      description,
      inputSchema: schemaOf(input),
      outputSchema,
      annotations: { title, ...readOnly },
    })),
    has: (name) => tools.has(name),
    async call(name, args) {
      const found = await tools.get(name)!.run(args, { io, folder, budget })
      return answerOf(found, budget, outputRedactor())
    },
  }
}

function schemaOf(shape: z.ZodType): unknown {
  return z.toJSONSchema(shape, { io: 'input' })
}
