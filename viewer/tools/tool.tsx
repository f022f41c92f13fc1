import { Fragment } from 'preact'
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { countOf, formatCount, formatDuration } from '../../src/render/index.js'
import { JsonTree } from '../json/tree.js'
import { clean } from '../shell/clean.js'
import { reader, tellFailure } from '../store/actions.js'
import { contentOf, contentsVersion } from '../store/contents.js'
import { filterMatches, range, table, version } from '../store/state.js'
import type { ToldCost, ToldFinding } from '../worker/protocol.js'
import type { Offered, OfferHistory } from '../worker/tools.js'
import type { Bin, ToolUse } from '../worker/tool.js'
import { Change } from './change.js'
import { schemaRows, type SchemaRow } from './schema-rows.js'
import { ToRow } from './to-row.js'

/** Larger definitions are shown only as JSON. */
const longestDefinition = 1 << 20

interface ToolProps {
  readonly one: Offered
  readonly history: OfferHistory
  readonly cost: ToldCost | undefined
  readonly found: readonly ToldFinding[]
}

/** All facts about one tool: schemas, calls, latencies, errors, changes. */
export function ToolFacts({ one, history, cost, found }: ToolProps) {
  const use = useSignal<ToolUse | undefined>(undefined)
  const matches = filterMatches.value
  const between = range.value
  useEffect(() => {
    let gone = false
    reader()
      .call<ToolUse>('tool', [history.lane, one.name, between])
      .then((found) => {
        if (!gone) use.value = found
      })
      .catch(tellFailure)
    return () => {
      gone = true
    }
  }, [history.lane, one.name, matches?.text, matches?.count, between, Math.floor(version.value / 40)])
  const definition =
    one.text.length > longestDefinition ? {} : (JSON.parse(one.text) as Record<string, unknown>)
  const changes = history.changes.filter(({ change }) => change.kind === one.kind && change.name === one.name)
  return (
    <div class="tool-facts">
      <Schema title="Arguments" rows={schemaRows(definition['inputSchema'])} />
      <Schema title="Structured result" rows={schemaRows(definition['outputSchema'])} />
      {cost && <Cost cost={cost} />}
      {use.value && <Use use={use.value} />}
      {found.length > 0 && <Findings found={found} />}
      {changes.length > 0 && (
        <section>
          <h3>Changes</h3>
          <ul>
            {changes.map((step, i) => (
              <Change key={i} step={step} lane={history.lane} isOpen />
            ))}
          </ul>
        </section>
      )}
      <details>
        <summary>Definition as JSON</summary>
        <JsonTree text={one.text} label={`${one.kind} ${one.name}`} />
      </details>
    </div>
  )
}

function Schema({ title, rows }: { readonly title: string; readonly rows: readonly SchemaRow[] }) {
  if (rows.length === 0) return null
  return (
    <section>
      <h3>{title}</h3>
      <table class="grid schema">
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">type</th>
            <th scope="col">description</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ depth, name, type, required, description, limits }, i) => (
            <tr key={i}>
              <th scope="row" style={{ paddingLeft: `${10 + depth * 16}px` }}>
                <b>{clean(name)}</b>
                {required && <em class="tag">required</em>}
              </th>
              <td>{clean(type)}</td>
              <td class="schema-what">
                {clean(description)}
                {description !== '' && limits.length > 0 && ' '}
                {limits.length > 0 && <span class="quiet">{clean(limits.join('; '))}</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Cost({
  cost: { tokens, description, schemas, calls, results, largest },
}: {
  readonly cost: ToldCost
}) {
  return (
    <section>
      <h3>Cost</h3>
      <p>
        About {countOf(tokens, 'token')} in every prompt: description {formatCount(description)}, schemas{' '}
        {formatCount(schemas)}.{' '}
        {calls > 0 &&
          `Results of ${countOf(calls, 'call')}: ${countOf(results, 'token')}, the largest ${formatCount(largest)}.`}
      </p>
    </section>
  )
}

/** Findings listed for one tool; the view of findings has all. */
const mostFindings = 20

function Findings({ found }: { readonly found: readonly ToldFinding[] }) {
  return (
    <section>
      <h3>Findings</h3>
      <ul>
        {found.slice(0, mostFindings).map(({ rows: [row], level, rule, message }, i) => (
          <li key={i}>
            <span class={`tag level-${level}`}>{level}</span>{' '}
            {row === undefined ? rule : <ToRow row={row} text={rule} />} {clean(message)}
          </li>
        ))}
      </ul>
      {found.length > mostFindings && (
        <p class="quiet">and {formatCount(found.length - mostFindings)} more in Findings</p>
      )}
    </section>
  )
}

function Use({ use }: { readonly use: ToolUse }) {
  contentsVersion.value
  const rest = use.errorCount - use.errors.reduce((sum, { count }) => sum + count, 0)
  if (use.calls === 0)
    return (
      <p class="quiet">
        {filterMatches.value || range.value ? 'No calls match the filter.' : 'No calls yet.'}
      </p>
    )
  return (
    <>
      <section>
        <h3>Calls</h3>
        <ul>
          {use.examples.map(({ row, why, latencyUs }) => (
            <li key={row}>
              <ToRow row={row} text={why} />
              {latencyUs !== undefined && <span class="quiet"> {formatDuration(latencyUs)}</span>}{' '}
              <code>{contentOf(row).text}</code>
            </li>
          ))}
        </ul>
      </section>
      {use.errors.length > 0 && (
        <section>
          <h3>
            Errors <span class="quiet">{formatCount(use.errorCount)}</span>
          </h3>
          <ul>
            {use.errors.map(({ text, count, rows }) => (
              <li key={text}>
                {countOf(count, 'time')} <span class="bad-words">{clean(text)}</span>{' '}
                <span class="quiet">
                  {count > rows.length && '… '}
                  {rows.map((row) => (
                    <Fragment key={row}>
                      <ToRow row={row} text={`#${table.seq(row)}`} />{' '}
                    </Fragment>
                  ))}
                </span>
              </li>
            ))}
          </ul>
          {rest > 0 && <p class="quiet">and {formatCount(rest)} with other texts</p>}
        </section>
      )}
      {use.bins.length > 0 && <Histogram bins={use.bins} />}
    </>
  )
}

/** Number of calls by latency; each bar's limit is twice that of the previous one. */
function Histogram({ bins }: { readonly bins: readonly Bin[] }) {
  const most = Math.max(...bins.map(({ count }) => count))
  return (
    <section>
      <h3>Latency</h3>
      <table class="grid histogram">
        <tbody>
          {bins.map(({ fromUs, count }) => (
            <tr key={fromUs}>
              <th scope="row" class="number">
                up to {formatDuration(fromUs * 2)}
              </th>
              <td class="number">{formatCount(count)}</td>
              <td class="histogram-bar" aria-hidden="true">
                {count > 0 && <i style={{ width: `${(100 * count) / most}%` }} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
