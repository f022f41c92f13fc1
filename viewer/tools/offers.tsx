import { levels } from '../../src/findings/index.js'
import { countOf, formatCount } from '../../src/render/index.js'
import { JsonTree } from '../json/tree.js'
import { useCosts } from '../findings/use-costs.js'
import { clean } from '../shell/clean.js'
import { findingsOfTool } from '../store/findings.js'
import { laneName } from '../store/lane-name.js'
import { lanes, toolOpen } from '../store/state.js'
import type { ToldCost } from '../worker/protocol.js'
import type { Offered, OfferHistory } from '../worker/tools.js'
import { Change } from './change.js'
import { ToolFacts } from './tool.js'

/** Definitions that a server offers, with their changes. */
export function Offers({ history }: { readonly history: OfferHistory }) {
  const costs = useCosts(history.lane)?.costs ?? []
  const of = lanes.value[history.lane]
  const name = of
    ? lanes.value.length > 1
      ? laneName(of)
      : (of.sessions[0]?.server?.name ?? of.sessions[0]?.label ?? of.name)
    : ''
  // Costs go by the server's name, and by the label until the server has told its name.
  const servers = new Set(of?.sessions.flatMap(({ server, label }) => [server?.name, label]))
  if (history.offered.length === 0 && history.changes.length === 0) return null
  return (
    <section class="offers">
      <h2>
        Definitions of {clean(name)} <span class="quiet">{formatCount(history.offered.length)}</span>
      </h2>
      {history.changes.length > 0 && (
        <ul class="offer-changes">
          {history.changes.map((step, i) => (
            <Change key={i} step={step} lane={history.lane} />
          ))}
        </ul>
      )}
      <div class="offer-list">
        {history.offered.map((one) => (
          <Offer
            key={`${one.kind} ${one.name}`}
            one={one}
            history={history}
            cost={costs.find(
              (cost) => cost.kind === one.kind && cost.name === one.name && servers.has(cost.server),
            )}
          />
        ))}
      </div>
    </section>
  )
}

interface OfferProps {
  readonly one: Offered
  readonly history: OfferHistory
  readonly cost: ToldCost | undefined
}

function Offer({ one, history, cost }: OfferProps) {
  const found = one.kind === 'tool' ? findingsOfTool(history.lane, one.name) : []
  return (
    <details
      open={one.kind === 'tool' && toolOpen.value === one.name}
      onToggle={({ currentTarget: { open } }) => {
        if (one.kind !== 'tool') return
        if (open) toolOpen.value = one.name
        else if (toolOpen.value === one.name) toolOpen.value = undefined
      }}
    >
      <summary>
        <span class="offer-kind">{one.kind}</span> <b>{clean(one.name)}</b>
        {one.hints.map((hint) => (
          <em key={hint} class={`tag hint-${hint === 'destructiveHint' ? 'bad' : 'plain'}`}>
            {clean(hint.replace(/Hint$/, ''))}
          </em>
        ))}
        {levels.map((level) => {
          const count = found.filter((finding) => finding.level === level).length
          return (
            count > 0 && (
              <em key={level} class={`tag level-${level}`} title="Findings about this tool">
                {countOf(count, level)}
              </em>
            )
          )
        })}
        <span class="quiet">{clean(one.title || one.description.split('\n')[0]!.slice(0, 200))}</span>
        {cost && (
          <span class="offer-cost quiet" title="Estimated tokens of the definition in every prompt">
            {countOf(cost.tokens, 'token')}
          </span>
        )}
      </summary>
      {one.description !== '' && <p>{one.description.split('\n').map(clean).join('\n')}</p>}
      {one.kind !== 'tool' ? (
        <JsonTree text={one.text} label={`${one.kind} ${one.name}`} />
      ) : (
        toolOpen.value === one.name && <ToolFacts one={one} history={history} cost={cost} found={found} />
      )}
    </details>
  )
}
