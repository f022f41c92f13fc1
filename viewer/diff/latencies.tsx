import { signal } from '@preact/signals'
import { titleOf, type SubjectLatency } from '../../src/compare/index.js'
import { countOf, formatDuration } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'

/** Thresholds of a change: a factor, and milliseconds. */
const factor = signal(1.5)
const leastMs = signal(1)

/** Calls with a change of typical latency above the user's thresholds. */
export function Latencies({ latency }: { readonly latency: readonly SubjectLatency[] }) {
  const both = latency.flatMap((one) =>
    one.before && one.after ? [{ ...one, before: one.before, after: one.after }] : [],
  )
  if (both.length === 0) return null
  const changed = both
    .map((one) => ({ ...one, times: one.after.p50Us / Math.max(1, one.before.p50Us) }))
    .filter(
      ({ times, before, after }) =>
        Math.max(times, 1 / times) >= factor.value &&
        Math.abs(after.p50Us - before.p50Us) >= leastMs.value * 1_000,
    )
    .toSorted((a, b) => b.times - a.times)
  return (
    <section class="latency-changes">
      <h2>Latency changes</h2>
      <p class="thresholds">
        <Threshold
          name="at least"
          unit="times"
          value={factor.value}
          least={1}
          step={0.1}
          set={(value) => (factor.value = value)}
        />
        <Threshold
          name="and"
          unit="ms"
          value={leastMs.value}
          least={0}
          step={1}
          set={(value) => (leastMs.value = value)}
        />
      </p>
      {changed.length === 0 ? (
        <p class="quiet">None of {countOf(both.length, 'latency', 'latencies')} changed that much.</p>
      ) : (
        <table class="grid narrow">
          <thead>
            <tr>
              <th scope="col">request</th>
              <th scope="col" class="number">
                p50 before
              </th>
              <th scope="col" class="number">
                p50 after
              </th>
              <th scope="col" class="number">
                factor
              </th>
            </tr>
          </thead>
          <tbody>
            {changed.slice(0, 50).map((one) => (
              <tr key={titleOf(one)}>
                <th scope="row">{clean(titleOf(one))}</th>
                <td class="number">{formatDuration(one.before.p50Us)}</td>
                <td class={`number ${one.times > 1 ? 'bad' : 'good'}`}>{formatDuration(one.after.p50Us)}</td>
                <td class="number">{one.times.toFixed(one.times < 10 ? 2 : 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  )
}

function Threshold(props: {
  readonly name: string
  readonly unit: string
  readonly value: number
  readonly least: number
  readonly step: number
  readonly set: (value: number) => void
}) {
  const { name, unit, value, least, step, set } = props
  return (
    <label>
      {name}{' '}
      <input
        type="number"
        min={least}
        step={step}
        value={value}
        onInput={({ currentTarget: { valueAsNumber } }) => {
          if (Number.isFinite(valueAsNumber) && valueAsNumber >= least) set(valueAsNumber)
        }}
      />{' '}
      {unit}
    </label>
  )
}
