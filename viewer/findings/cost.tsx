import { useSignal } from '@preact/signals'
import { countOf, formatCount } from '../../src/render/index.js'
import { quoteValue } from '../../src/filter/index.js'
import { clean } from '../shell/clean.js'
import { search } from '../store/actions.js'
import { shownLanes } from '../store/lane-name.js'
import { filterMatches, lane, range, reading, view } from '../store/state.js'
import type { ToldCost } from '../worker/protocol.js'
import { useCosts } from './use-costs.js'

const keys = {
  tool: { key: 'tool', method: 'tools/call' },
  prompt: { key: 'prompt', method: 'prompts/get' },
  resource: { key: 'name', method: 'resources/read' },
} as const
/** Maximum number of rows per server; the rest is summed up. */
const mostRows = 500

/** Token costs: of definitions in every prompt, and of results. */
export function CostPage() {
  const neverOnly = useSignal(false)
  const list = useCosts()
  const costs = list?.costs ?? []
  const never = costs.filter(isNeverCalled)
  const isPart = filterMatches.value !== undefined || range.value !== undefined
  const shown = neverOnly.value ? never : isPart ? costs.filter(({ calls }) => calls > 0) : costs
  const heaviest = Math.max(1, ...shown.map(({ tokens }) => tokens))
  const heaviestResults = Math.max(1, ...shown.map(({ results }) => results))
  const of = shownLanes()
  const servers = [...new Set(shown.map(({ server }) => server))]
  return (
    <div class="page cost-page" tabIndex={0} role="region" aria-label="Cost">
      {list === undefined ? (
        <p class="empty" role="status">
          {reading.value ? 'Reading the recording…' : 'Counting…'}
        </p>
      ) : costs.length === 0 ? (
        <p class="empty">No definitions: the recording has no list of tools, prompts or resources.</p>
      ) : (
        <>
          <p class="cost-total">
            About <b>{formatCount(tokensOf(costs))}</b> tokens of definitions in every prompt.{' '}
            {never.length > 0 && (
              <>
                Of these, <b>{formatCount(tokensOf(never))}</b> are for {countOf(never.length, 'tool')} never
                called.{' '}
              </>
            )}
            {isPart && !neverOnly.value && (
              <>
                The filter shows <b>{formatCount(sumOf(shown, 'results'))}</b> tokens of results of{' '}
                {countOf(sumOf(shown, 'calls'), 'call')}.{' '}
              </>
            )}
            <span class="quiet">
              Estimated as {list.estimator}.
              {of !== undefined &&
                lane.value === 'all' &&
                ` Calls of ${of} are counted together; choose one at the top.`}
            </span>{' '}
            {never.length > 0 && (
              <button
                type="button"
                class="chip"
                aria-pressed={neverOnly.value}
                onClick={() => (neverOnly.value = !neverOnly.value)}
              >
                Never called
              </button>
            )}
          </p>
          {shown.length === 0 && <p class="empty">No calls match the filter.</p>}
          {servers.map((server) => (
            <ServerCosts
              key={server}
              server={server}
              rows={shown.filter((row) => row.server === server)}
              heaviest={heaviest}
              heaviestResults={heaviestResults}
            />
          ))}
        </>
      )}
    </div>
  )
}

interface ServerProps {
  readonly server: string
  readonly rows: readonly ToldCost[]
  readonly heaviest: number
  readonly heaviestResults: number
}

function ServerCosts({ server, rows, heaviest, heaviestResults }: ServerProps) {
  return (
    <section>
      <h2>
        {clean(server) || 'Unnamed server'} <span class="quiet">{countOf(tokensOf(rows), 'token')}</span>
      </h2>
      <div class="scroll-across">
        <table class="grid">
          <thead>
            <tr>
              <th scope="col">name</th>
              <th scope="col" class="number">
                definition
              </th>
              <th scope="col" class="cost-bar">
                <span class="swatch-text description">description</span>{' '}
                <span class="swatch-text schemas">schemas</span> <span class="swatch-text rest">other</span>
              </th>
              <th scope="col" class="number">
                calls
              </th>
              <th scope="col" class="number">
                results
              </th>
              <th scope="col" class="number">
                largest
              </th>
              <th scope="col" class="cost-bar">
                <span class="quiet">results</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, mostRows).map((row) => (
              <CostRow
                key={`${row.kind} ${row.name}`}
                row={row}
                heaviest={heaviest}
                heaviestResults={heaviestResults}
              />
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > mostRows && (
        <p class="quiet">{countOf(rows.length - mostRows, 'smaller definition')} not listed</p>
      )}
    </section>
  )
}

function CostRow({
  row,
  heaviest,
  heaviestResults,
}: Pick<ServerProps, 'heaviest' | 'heaviestResults'> & { readonly row: ToldCost }) {
  const { kind, name, tokens, description, schemas, calls, results, largest } = row
  const percent = (part: number, of: number): string => `${(part / of) * 100}%`
  return (
    <tr>
      <th scope="row">
        <span class="quiet">{kind}</span>{' '}
        <button type="button" class="bare link-like" title="Show the calls" onClick={() => showCalls(row)}>
          <b>{clean(name)}</b>
        </button>
        {isNeverCalled(row) && <em class="tag">never called</em>}
      </th>
      <td class="number" title={`description ${description}, schemas ${schemas}`}>
        {formatCount(tokens)}
      </td>
      <td class="cost-bar" aria-hidden="true">
        <span class="bars">
          <i class="description" style={{ width: percent(description, heaviest) }} />
          <i class="schemas" style={{ width: percent(schemas, heaviest) }} />
          <i class="rest" style={{ width: percent(Math.max(0, tokens - description - schemas), heaviest) }} />
        </span>
      </td>
      <td class="number">{calls === 0 ? '' : formatCount(calls)}</td>
      <td class="number">{results === 0 ? '' : formatCount(results)}</td>
      <td class="number">{largest === 0 ? '' : formatCount(largest)}</td>
      <td class="cost-bar" aria-hidden="true">
        <span class="bars">
          <i class="results" style={{ width: percent(results, heaviestResults) }} />
        </span>
      </td>
    </tr>
  )
}

function isNeverCalled({ kind, isCalled }: ToldCost): boolean {
  return kind === 'tool' && !isCalled
}

function showCalls({ kind, name }: ToldCost): void {
  const how = keys[kind as keyof typeof keys]
  if (!how) return
  search('filter', `method:${quoteValue(how.method)} ${how.key}:${quoteValue(name)}`)
  view.value = 'messages'
}

function tokensOf(rows: readonly ToldCost[]): number {
  return sumOf(rows, 'tokens')
}

function sumOf(rows: readonly ToldCost[], key: 'tokens' | 'calls' | 'results'): number {
  return rows.reduce((total, row) => total + row[key], 0)
}
