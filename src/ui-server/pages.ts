import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A file of the page. */
export interface Page {
  readonly type: string
  readonly body: string
}

const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'viewer.js': 'text/javascript; charset=utf-8',
  'patterns.js': 'text/javascript; charset=utf-8',
  'views.js': 'text/javascript; charset=utf-8',
  'viewer.css': 'text/css; charset=utf-8',
}

/** Files loaded by the acting script. */
const beside: Readonly<Record<string, string>> = {
  'editor.js': 'text/javascript; charset=utf-8',
  'acting.css': 'text/css; charset=utf-8',
}

/** Scripts, styles and requests come only from this server. */
export const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  'media-src data: blob:',
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * The page as `wiretape ui` serves it, by path.
 *
 * @param folder of the built viewer
 * @param acting the script that acts on live captures, absent from static pages
 */
export async function loadPages(folder: string, acting?: string): Promise<ReadonlyMap<string, Page>> {
  const pages = new Map<string, Page>()
  for (const [name, type] of Object.entries(types)) {
    const text = await readFile(join(folder, name), 'utf8')
    // Tells the page its mode.
    const body = name === 'index.html' ? text.replace('data-mode="static"', 'data-mode="ui"') : text
    pages.set(name === 'index.html' ? '/' : `/${name}`, { type, body })
  }
  if (acting !== undefined) {
    const type = 'text/javascript; charset=utf-8'
    pages.set('/acting.js', { type, body: await readFile(acting, 'utf8') })
    for (const [name, itsType] of Object.entries(beside)) {
      // Without the editor, the page uses plain fields.
      const text = await readFile(join(dirname(acting), name), 'utf8').catch(() => undefined)
      if (text !== undefined) pages.set(`/${name}`, { type: itsType, body: text })
    }
  }
  return pages
}
