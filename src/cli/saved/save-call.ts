import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import type { CallRequest } from '../../replay/index.js'
import { addToFile, makeSavedCall, type FileOfCalls, type SavedServer } from '../../saved-calls/index.js'
import { checkReplaceable, replaceFile } from '../../tape/index.js'
import { findJsonValue, isFault, JsonObject } from '../../wire/index.js'
import type { Io } from '../io.js'

/** Call to save, from the command line. */
export interface SavedFrom {
  readonly server: SavedServer
  /** Option values in which `${NAME}` is an environment variable. */
  readonly templates: readonly string[]
}

/** A file to which a call is added. */
export interface CallFile {
  /** Writes the call and its response. Returns a line to print. */
  save(from: SavedFrom, request: CallRequest, answer: string): Promise<string>
}

/** Shorter values occur in every text. */
const shortestSecret = 4

/** @throws WiretapeError before any call if the file cannot be written or holds something else */
export async function openCallFile(name: string, io: Io): Promise<CallFile> {
  const path = resolve(io.cwd, name)
  await checkReplaceable(path)
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new WiretapeError('unreadable', `cannot read ${escapeText(name)}`, { cause: error })
  })
  const file = addToFile(text)
  if (!file)
    throw new WiretapeError('usage', `--save ${escapeText(name)}: not a file of saved calls`, {
      hint: 'name a new file, or one that wiretape run reads',
    })
  return { save: (from, request, answer) => saveInto(file, { path, name }, from, request, answer) }
}

async function saveInto(
  file: FileOfCalls,
  { path, name }: { readonly path: string; readonly name: string },
  { server, templates }: SavedFrom,
  request: CallRequest,
  answer: string,
): Promise<string> {
  const call = makeSavedCall({ server, ...requestOf(request), answer }, valuesIn(templates))
  const title = file.add(call)
  await replaceFile(path, file.text())
  const variables = call.variables.map((variable) => `\${env:${variable}}`)
  const needs = variables.length === 0 ? '' : `; it needs ${variables.join(', ')}`
  return `saved: ${escapeText(name)}, call ${JSON.stringify(escapeText(title))}${needs}\n`
}

function requestOf(request: CallRequest): { readonly method: string; readonly params: string } {
  if ('method' in request) return request
  const span = findJsonValue(request.text)
  const message = new JsonObject(request.text, isFault(span) ? 0 : span.start)
  return { method: message.string('method') ?? '', params: message.raw('params') ?? '{}' }
}

/** Variables named in options, with their values. */
function valuesIn(templates: readonly string[]): Map<string, string> {
  const names = templates.flatMap((text) => [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name!))
  const values = names.map((name) => [name, process.env[name]?.trim() ?? ''] as const)
  return new Map(values.filter(([, { length }]) => length >= shortestSecret))
}
