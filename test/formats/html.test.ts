import { createHash } from 'node:crypto'
import { runInNewContext } from 'node:vm'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeLine, htmlReport, type Recording, type ReportPage } from '../../src/formats/index.js'

const page: ReportPage = {
  script: 'run("<b>")',
  patterns: 'more()',
  views: 'views()',
  style: 'a { color: red }',
}
const lines = (label: string, payload: string): string[] => [
  `{"v":1,"type":"meta","startedAt":"2026-08-01T10:00:00.000Z","label":${JSON.stringify(label)},"command":[]}`,
  `{"t":"2026-08-01T10:00:00.001Z","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"m","params":[${JSON.stringify(payload)},1.0,12345678901234567890]}}`,
]

function recording(texts: readonly string[]): Recording {
  return {
    async *records() {
      for (const text of texts) {
        const line = decodeLine(text)
        if ('record' in line) yield line.record
      }
    },
  }
}

async function report(texts: readonly string[], from: ReportPage = page): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of htmlReport(async () => from).write(recording(texts), () => undefined))
    chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function tapeIn(html: string): string {
  const [, data] = /<script type="application\/x-wiretape"[^>]*>([^<]*)<\/script>/.exec(html)!
  expect(data).toMatch(/^[A-Za-z0-9+/]+=*$/)
  return gunzipSync(Buffer.from(data!, 'base64')).toString('utf8')
}

describe('a report', () => {
  it('holds the recording, character by character', async () => {
    const texts = lines('a', 'x')
    expect(tapeIn(await report(texts))).toBe(`${texts.join('\n')}\n`)
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), async (payload) => {
        const own = lines('a', payload)
        expect(tapeIn(await report(own))).toBe(`${own.join('\n')}\n`)
      }),
      { numRuns: 30 },
    )
  })

  it('holds nothing of a peer as markup', async () => {
    const html = await report(
      lines('</title><script>alert(1)</script>', '</script><img src=x onerror=alert(1)>'),
    )
    expect(html).not.toMatch(/<script>alert|<img/)
    expect(html).toContain('<title>&#60;/title&#62;&#60;script&#62;')
    expect(html.match(/<script/g)).toHaveLength(4)
  })

  it('lets run only its own script, by hash, and fetches nothing', async () => {
    const html = await report(lines('a', 'x'))
    const [, policy] = /content-security-policy" content="([^"]*)"/.exec(html)!
    const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    expect(policy!.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hash(page.patterns)} ${hash(page.script)} ${hash(page.views)}`,
      `style-src ${hash(page.style)}`,
      'img-src data: blob:',
      'media-src data: blob:',
      'worker-src blob:',
      "base-uri 'none'",
      "form-action 'none'",
    ])
    expect(html).toContain(`<script>${page.script}</script>`)
    expect(html).toContain(`<style>${page.style}</style>`)
  })

  it('keeps a viewer inside of its element whose texts and patterns look like the end of it', async () => {
    const script = '[`</SCRIPT><!-- <script>`, "</script\\n", /<\\/script|<!--/.test("<!--")].join()'
    const html = await report(lines('a', 'x'), { script, patterns: '', views: '', style: '' })
    const inside = /<script>([\s\S]*?)<\/script>\n<script id="views">/.exec(html)![1]!
    expect(inside).not.toMatch(/<\/script|<!--/i)
    // Only the content differs.
    expect(runInNewContext(inside)).toBe(runInNewContext(script))
  })

  it('is not made with a style sheet that would break out of its element', async () => {
    await expect(
      report(lines('a', 'x'), { script: '', patterns: '', views: '', style: '</style>' }),
    ).rejects.toThrow(/cannot be embedded/)
  })

  it('passes on what goes wrong with the recording', async () => {
    const broken: Recording = {
      async *records() {
        yield* recording(lines('a', 'x')).records()
        throw new Error('the disk is gone')
      },
    }
    const write = async (): Promise<void> => {
      for await (const _ of htmlReport(async () => page).write(broken, () => undefined));
    }
    await expect(write()).rejects.toThrow('the disk is gone')
  })
})
