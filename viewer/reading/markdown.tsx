import type { Token, Tokens } from 'marked'
import type { ComponentChildren } from 'preact'
import { Marked } from '../json/marked.js'
import { Link } from '../json/tree.js'
import { clean } from '../shell/clean.js'
import { lexMarkdown } from './lex-markdown.js'

const mostDrawn = 5_000

/** A peer's Markdown as elements: no HTML, nothing loaded, links show their target. */
export function Markdown({ text, search }: { readonly text: string; readonly search: string }) {
  const tokens = lexMarkdown(text)
  if (tokens === undefined) return <pre class="plain-text">{cleanLines(text)}</pre>
  return <div class="markdown">{drawerOf(search)(tokens)}</div>
}

function drawerOf(search: string): (tokens: readonly Token[]) => ComponentChildren {
  let drawn = 0
  const words = (text: string): ComponentChildren => <Marked text={cleanLines(text)} search={search} />

  function all(tokens: readonly Token[] | undefined): ComponentChildren {
    return (tokens ?? []).map((token, i) => {
      drawn += 1
      return drawn > mostDrawn ? null : <span key={i}>{draw(token)}</span>
    })
  }
  const inside = (token: {
    readonly tokens?: Token[] | undefined
    readonly text?: string
  }): ComponentChildren =>
    token.tokens && token.tokens.length > 0 ? all(token.tokens) : words(entities(token.text ?? ''))

  function draw(any: Token): ComponentChildren {
    const token = any as Tokens.Generic
    switch (token.type) {
      case 'space':
      case 'def':
        return null
      case 'heading':
        // Not an HTML heading: it is no heading of the page.
        return <p class={`md-heading level-${String(token['depth'])}`}>{inside(token)}</p>
      case 'paragraph':
        return <p>{inside(token)}</p>
      case 'code':
        return <pre class="plain-text">{words(token.text ?? '')}</pre>
      case 'blockquote':
        return <blockquote>{all(token.tokens)}</blockquote>
      case 'list':
        return <List token={token as Tokens.List} draw={all} />
      case 'table':
        return <Table token={token as Tokens.Table} draw={inside} />
      case 'hr':
        return <hr />
      case 'strong':
        return <strong>{inside(token)}</strong>
      case 'em':
        return <em>{inside(token)}</em>
      case 'del':
        return <del>{inside(token)}</del>
      case 'codespan':
        return <code>{words(token.text ?? '')}</code>
      case 'br':
        return <br />
      case 'link':
        return <Target text={inside(token)} said={token.text ?? ''} href={String(token['href'])} />
      case 'image':
        return (
          <span class="md-image">
            image{' '}
            <Target text={words(token.text ?? '')} said={token.text ?? ''} href={String(token['href'])} />
          </span>
        )
      case 'escape':
        return words(token.text ?? '')
      case 'text':
        return inside(token)
      default:
        // HTML is shown as text too.
        return words(token.raw)
    }
  }
  return all
}

function List({
  token,
  draw,
}: {
  readonly token: Tokens.List
  readonly draw: (tokens: Token[]) => ComponentChildren
}) {
  const items = token.items.map((item, i) => (
    <li key={i}>
      {item.task && <span aria-label={item.checked ? 'done' : 'open'}>{item.checked ? '☑ ' : '☐ '}</span>}
      {draw(item.tokens)}
    </li>
  ))
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>
}

function Table(props: {
  readonly token: Tokens.Table
  readonly draw: (cell: Tokens.TableCell) => ComponentChildren
}) {
  const { header, rows } = props.token
  return (
    <div class="list-table">
      <table class="grid">
        <thead>
          <tr>
            {header.map((cell, i) => (
              <th key={i} scope="col">
                {props.draw(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={i}>
              {cells.map((cell, j) => (
                <td key={j}>{props.draw(cell)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** A link's text and its target. */
function Target(props: { readonly text: ComponentChildren; readonly said: string; readonly href: string }) {
  const { text, said, href } = props
  const to = href.slice(0, 2_000)
  const isWeb = /^https?:\/\/[^\s"<>]+$/i.test(to)
  const target = isWeb ? <Link to={to} /> : <code>{clean(to)}</code>
  if (said === href) return target
  return (
    <>
      {text} ({target})
    </>
  )
}

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
}

function entities(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => named[name]!)
}

function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n')
}
