import type { CostObserver, DefinitionCost, DefinitionSizes } from '../../src/findings/index.js'
import type { Engine } from '../patterns/loaded.js'
import { createColumn } from './columns.js'
import type { LaneIndex } from './lane.js'
import type { ToldCost } from './protocol.js'
import type { Shown } from './tools.js'

/** Costs of definitions in all lanes, and of those results that the page shows. */
export interface LaneCosts {
  readonly rule: ReturnType<Engine['findings']['createCostTable']>['rule']
  /** The lane whose records the rule takes next. */
  setLane(lane: LaneIndex): void
  /** @param shownOf the shown part of a lane; undefined for a lane that is not shown */
  told(shownOf: (lane: LaneIndex) => Shown | undefined): ToldCost[]
}

interface Calls {
  calls: number
  results: number
  largest: number
}

export function createLaneCosts(engine: Engine['findings']): LaneCosts {
  /** Numbers of definitions. */
  const numbers = new Map<string, number>()
  /** The latest definition in each lane, and the lanes with calls, by number. */
  const listedIn: Map<LaneIndex, DefinitionSizes>[] = []
  const calledIn: Set<LaneIndex>[] = []
  /** One entry per call, and another one per result of a task, in columns. */
  const definition = createColumn((n) => new Uint32Array(n))
  const row = createColumn((n) => new Uint32Array(n))
  const laneOf = createColumn((n) => new Uint16Array(n))
  const size = createColumn((n) => new Uint32Array(n))
  const isCall = createColumn((n) => new Uint8Array(n))
  const lanes: LaneIndex[] = []
  let lane: LaneIndex | undefined

  function add(key: string, at: number, characters: number, calls: number): void {
    if (!lane) return
    const number = numbers.get(key)!
    ;(calledIn[number] ??= new Set()).add(lane)
    definition.push(number)
    row.push(at)
    laneOf.push(lane.index)
    size.push(characters)
    isCall.push(calls)
  }

  const observer: CostObserver = {
    listed(key, sizes) {
      const number = numbers.get(key) ?? numbers.size
      numbers.set(key, number)
      const all = (listedIn[number] ??= new Map())
      if (lane) all.set(lane, sizes)
    },
    called: (key, at, characters) => add(key, at, characters, 1),
    taskEnded: (key, at, characters) => add(key, at, characters, 0),
  }
  const table = engine.createCostTable(observer)

  function shownCalls(shownOf: (lane: LaneIndex) => Shown | undefined): (Calls | undefined)[] {
    const sums: (Calls | undefined)[] = []
    const shown = lanes.map((one) => one && shownOf(one))
    for (let i = 0; i < row.length; i += 1) {
      const at = laneOf.get(i)
      const request = lanes[at]!.fold.entries.peer(row.get(i))
      if (request < 0 || shown[at]?.exchange(request) !== true) continue
      const sum = (sums[definition.get(i)] ??= { calls: 0, results: 0, largest: 0 })
      sum.calls += isCall.get(i)
      sum.results += size.get(i)
      sum.largest = Math.max(sum.largest, size.get(i))
    }
    return sums
  }

  return {
    rule: table.rule,
    setLane(next) {
      lane = next
      lanes[next.index] = next
    },
    told(shownOf) {
      const sums = shownCalls(shownOf)
      return table.rows().flatMap((one) => {
        const number = numbers.get(engine.costKey(one.server, one.kind, one.name))!
        const sizes = [...listedIn[number]!].findLast(([of]) => shownOf(of))?.[1]
        if (!sizes) return []
        const isCalled = [...(calledIn[number] ?? [])].some((of) => shownOf(of))
        return [toldCost({ ...one, ...sizes }, isCalled, sums[number], engine.estimateTokens)]
      })
    },
  }
}

function toldCost(
  one: DefinitionCost,
  isCalled: boolean,
  { calls, results, largest }: Calls = { calls: 0, results: 0, largest: 0 },
  tokens: (characters: number) => number,
): ToldCost {
  return {
    server: one.server,
    kind: one.kind,
    name: one.name,
    tokens: tokens(one.characters),
    description: tokens(one.description),
    schemas: tokens(one.schemas),
    isCalled,
    calls,
    results: tokens(results),
    largest: tokens(largest),
  }
}
