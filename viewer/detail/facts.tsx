import { formatBytes, formatDuration, waitedWords } from '../../src/render/index.js'
import { statusText } from '../list/row.js'
import { laneName } from '../store/lane-name.js'
import { clean } from '../shell/clean.js'
import { latencyOf, oursOf, statusOf, waitedOf } from '../store/exchange.js'
import { lanes, table, version } from '../store/state.js'

/** The line below the name: status, latency, size, time. */
export function Facts({ row }: { readonly row: number }) {
  version.value
  const status = statusOf(row)
  const { text, title } = statusText(row)
  const ours = oursOf(row)
  const latency = latencyOf(row)
  const waited = waitedOf(row)
  const answer = table.kind(row) === 'request' ? table.peer(row) : -1
  const lane = lanes.value[table.lane(row)]
  const seq = table.seq(row)
  return (
    <p class="facts">
      {text !== '' && (
        <span class={`pill is-${status} ${ours === undefined ? '' : 'ours'}`} title={clean(title)}>
          {clean(text)}
        </span>
      )}
      {ours !== undefined && <span class="pill ours">{ours}</span>}
      {latency !== undefined && (
        <span class="fact">
          {formatDuration(latency)}
          {waited > 0 && `, ${waitedWords(waited)}`}
        </span>
      )}
      <span class="fact">
        {formatBytes(table.size(row))}
        {answer >= 0 && ` → ${formatBytes(table.size(answer))}`}
      </span>
      <span class="fact" title={table.at(row) === 0 ? '' : dateText(table.at(row))}>
        {table.at(row) === 0 ? 'no time' : wallTime(table.at(row))}
      </span>
      {seq >= 0 && <span class="fact">#{seq}</span>}
      {table.id(row) !== '' && <span class="fact">id {clean(table.id(row))}</span>}
      {lane && lanes.value.length > 1 && <span class="fact">{clean(laneName(lane))}</span>}
    </p>
  )
}

/** `14:03:12.345 UTC` */
function wallTime(us: number): string {
  const text = dateText(us)
  return text === '' ? '' : `${text.slice(-13, -1)} UTC`
}

/** `2026-08-01T14:03:12.345Z` */
function dateText(us: number): string {
  const date = new Date(us / 1000)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
