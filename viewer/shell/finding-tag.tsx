import { clean } from './clean.js'

/** The rule of a finding in short; the tooltip has its message. */
export function FindingTag(props: {
  readonly finding: { readonly level: string; readonly rule: string; readonly message: string }
}) {
  const { level, rule, message } = props.finding
  return (
    <em class={`tag level-${level}`} title={`${rule}: ${clean(message)}`}>
      {rule.replace(/^.*\//, '')}
    </em>
  )
}
