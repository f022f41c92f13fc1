import { z } from 'zod'
import { recordingsIn } from '../data-folder.js'
import type { Io } from '../io.js'
import { OpenEngine } from '../sql/open-engine.js'
import { actingTools } from './acting-tools.js'
import { analysisTools } from './analysis-tools.js'
import { createTapeLister } from '../../tape/index.js'
import { answerOf, type Answer } from './answer.js'
import { readingTools } from './reading-tools.js'
import { outputRedactor } from './safe.js'
import { answerShape } from './shapes.js'
import type { Tool } from './tool.js'

/** The tools of the server for its clients. */
export interface Toolbox {
  /** Elements of `tools/list`. */
  readonly listed: readonly unknown[]
  has(name: string): boolean
  /** @throws WiretapeError for faulty arguments or recordings */
  call(name: string, args: unknown, signal?: AbortSignal): Promise<Answer>
}

const readOnly = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

const acting = { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true }

/** @param mayRun adds the tools that start recorded servers */
export function createToolbox(budget: number, mayRun: boolean, io: Io): Toolbox {
  const all = [...readingTools, ...analysisTools, ...(mayRun ? actingTools : [])]
  const tools = new Map<string, Tool>(all.map((tool) => [tool.name, tool]))
  const folder = recordingsIn(io.dataFolder)
  const engine = new OpenEngine()
  const listTapes = createTapeLister()
  return {
    listed: [...tools.values()].map(({ name, title, description, input, about, item, acts }) => ({
      name,
      title,
      description,
      inputSchema: schemaOf(input),
      outputSchema: schemaOf(answerShape(about, item)),
      annotations: { title, ...(acts ? acting : readOnly) },
    })),
    has: (name) => tools.has(name),
    async call(name, args, signal = new AbortController().signal) {
      const found = await tools.get(name)!.run(args, { io, folder, budget, engine, listTapes, signal })
      return answerOf(found, budget, outputRedactor())
    },
  }
}

function schemaOf(shape: z.ZodType): unknown {
  return z.toJSONSchema(shape, { io: 'input' })
}
