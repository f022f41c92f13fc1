import { useState } from 'preact/hooks'
import { formatCount } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { listIn, type JsonList } from './list-in.js'
import { Marked } from './marked.js'
import { JsonTree } from './tree.js'

interface Props {
  readonly text: string
  readonly search: string
  readonly label: string
}

/** A JSON text, shown as a table if it is a list. */
export function JsonOrTable({ text, search, label }: Props) {
  const list = listIn(text)
  const [asTable, setAsTable] = useState(true)
  if (!list) return <JsonTree text={text} search={search} label={label} />
  return (
    <>
      <button type="button" class="bare more" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
        {asTable ? 'as JSON' : 'as table'}
      </button>
      {asTable ? (
        <ListTable list={list} search={search} label={label} />
      ) : (
        <JsonTree text={text} search={search} label={label} />
      )}
    </>
  )
}

function ListTable({
  list,
  search,
  label,
}: {
  readonly list: JsonList
  readonly search: string
  readonly label: string
}) {
  const { member, columns, rows, left } = list
  return (
    <div class="list-table" tabIndex={0} role="region" aria-label={`${label} as a table`}>
      <table class="grid">
        {member !== '' && <caption>{clean(member)}</caption>}
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col">
                {clean(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells, i) => (
            <tr key={i}>
              {cells.map((cell, j) => (
                <td key={j} class={/^-?\d/.test(cell) ? 'number' : ''}>
                  <Marked text={cell.split('\n').map(clean).join('\n')} search={search} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {left > 0 && <p class="quiet">{formatCount(left)} more rows. Switch to JSON to see all.</p>}
    </div>
  )
}
