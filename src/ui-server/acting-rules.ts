import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { z } from 'zod'
import { Refusal, type CaptureConnection } from '../control/index.js'
import { jsonOf, refuse, sendJson } from './replies.js'
import { addRules, listRules, removeRule } from './rule-file.js'

const change = z.union([
  z.strictObject({
    add: z
      .string()
      .min(1)
      .max(4 * 1024 * 1024),
  }),
  z.strictObject({ remove: z.string().min(1).max(10_000) }),
])

/**
 * Lists and changes the rules of a capture: those of the file in force or, without one, of a new file, which then comes
 * into force.
 *
 * @param inForce file of the rules that are or were in force
 * @param folder for rules files of captures without one
 */
export async function answerRules(
  request: IncomingMessage,
  response: ServerResponse,
  connection: CaptureConnection,
  { inForce, folder }: { readonly inForce: string | undefined; readonly folder: string },
): Promise<void> {
  const file = inForce ?? join(folder, `${connection.hello.session}.yaml`)
  if (request.method === 'GET') return sendJson(response, { file, rules: await listRules(file) })
  const read = change.safeParse(await jsonOf(request))
  if (!read.success) return refuse(response, 400, 'invalid rule change')
  const asked = read.data
  const done = 'add' in asked ? await addRules(file, asked.add) : await removeRule(file, asked.remove)
  if ('fault' in done) return refuse(response, 409, done.fault)
  try {
    await connection.send({ type: 'rules', file: done.names.length > 0 ? file : null })
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return refuse(response, 409, error.failure.message)
  }
  return sendJson(response, { file, rules: await listRules(file) })
}
