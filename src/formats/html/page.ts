import { WiretapeError } from '../../model/index.js'
import { escapeText } from '../../render/index.js'
import { base64 } from './base64.js'

/** The built viewer. */
export interface ReportPage {
  /** One classic script. */
  readonly script: string
  /** A classic script that runs before it: the pattern engine. */
  readonly patterns: string
  /** A classic script that runs after it: the views that are not shown at first. */
  readonly views: string
  readonly style: string
}

/** The parts of the page before and after the recording. */
export async function pageAround(
  page: ReportPage,
  label: string,
): Promise<readonly [before: string, after: string]> {
  const [script, patterns, views] = [inElement(page.script), inElement(page.patterns), inElement(page.views)]
  const { style } = page
  if (/<\/style/i.test(style)) {
    throw new WiretapeError('unreadable', 'the built viewer cannot be embedded in a page', {
      hint: 'rebuild it with npm run build',
    })
  }
  const policy = [
    "default-src 'none'",
    `script-src '${await hashOf(patterns)}' '${await hashOf(script)}' '${await hashOf(views)}'`,
    `style-src '${await hashOf(style)}'`,
    'img-src data: blob:',
    'media-src data: blob:',
    'worker-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  const name = escapeHtml(escapeText(label === '' ? 'recording' : label))
  const before = `<!doctype html>
<html lang="en" data-mode="report">
<head>
<meta charset="utf-8">
<meta http-equiv="content-security-policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<title>${name} · wiretape</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<noscript>This report needs JavaScript. Everything is in this file; nothing is fetched or sent.</noscript>
<script type="application/x-wiretape" data-name="${name}.jsonl">`
  return [
    before,
    `</script>\n<script id="patterns">${patterns}</script>\n<script>${script}</script>\n<script id="views">${views}</script>\n</body>\n</html>\n`,
  ]
}

/** Escapes `</script` and `<!--`: they occur only in strings and patterns, where escapes mean the same. */
function inElement(script: string): string {
  return script.replace(/<\/(script)/gi, '<\\/$1').replace(/<!--/g, '<\\!--')
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return `sha256-${base64(new Uint8Array(digest))}`
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`)
}
