import type { MirroredArgument, FrameText } from '../wire/index.js'
import type { ToolBook } from './ledger.js'

/** The tools' arguments that headers mirror. Undefined for a tool that was never listed. */
export interface KnownTools {
  readonly before?: readonly MirroredArgument[] | undefined
  readonly after?: readonly MirroredArgument[] | undefined
}

/** Longest wait for the recorder: a hanging one must not block a message that a person sends. */
const answerWithinMs = 1_000
/** Limit of tools reported as unknown. */
const mostTold = 1_000

/** Looks up the header requirements of tools, for changed and injected requests. */
export interface ToolHeaders {
  /** @param before undefined for a request that replaces no other */
  known(before: FrameText | undefined, after: FrameText): Promise<KnownTools>
}

/** @param tell receives one sentence per tool that was never listed */
export function createToolHeaders(book: ToolBook, tell: (sentence: string) => void): ToolHeaders {
  const told = new Set<string>()

  async function lookUp(tool: string | undefined): Promise<KnownTools['after']> {
    if (tool === undefined) return undefined
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), answerWithinMs)
    })
    const found = await Promise.race([book.toolHeaders(tool), late])
    clearTimeout(timer)
    return found
  }

  function missing(tool: string): void {
    if (told.has(tool) || told.size >= mostTold) return
    told.add(tool)
    tell(
      `the tool ${JSON.stringify(tool)} is in no recorded tools/list response: a changed call gets no new Mcp-Param headers`,
    )
  }

  return {
    async known(before, after) {
      const [was, is] = [before, after].map(toolIn)
      if (is === undefined) return {}
      const now = await lookUp(is)
      const isOther = was !== is || argumentsIn(before) !== argumentsIn(after)
      if (!now && isOther) missing(is)
      return { before: was === is ? now : await lookUp(was), after: now }
    },
  }
}

/** Only single calls of the modern era have such headers. */
function toolIn(frame: FrameText | undefined): string | undefined {
  if (!frame || frame.batch) return undefined
  const { method, subject, modern } = frame.parts[0]!.envelope
  return modern && method === 'tools/call' ? subject : undefined
}

function argumentsIn(frame: FrameText | undefined): string | undefined {
  return frame?.parts[0]!.envelope.argumentsText
}
