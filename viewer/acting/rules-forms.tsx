import { useEffect, useState } from 'preact/hooks'
import { ruleOf, toCall } from '../copying/copy-code.js'
import { clean } from '../shell/clean.js'
import { askToAct } from './channel.js'
import { door } from './door.js'
import { FormBox } from './form-box.js'
import { TextForm } from './held-forms.js'
import { saidBy } from './row-forms.js'
import { channel, tell, wordsOf } from './state.js'

interface Rules {
  readonly file: string
  readonly rules: readonly { readonly name: string; readonly when: string; readonly does: string }[]
}

async function askRules(change?: { readonly add: string } | { readonly remove: string }): Promise<Rules> {
  return (await askToAct(`./api/control/${channel.value!.id}/rules`, change)) as Rules
}

/** The rules of the capture, with buttons to remove them. */
export function RulesForm() {
  const [known, setKnown] = useState<Rules | undefined>(undefined)
  const [fault, setFault] = useState('')
  const show = (asked: Promise<Rules>): void =>
    void asked.then(setKnown, (error: unknown) => setFault(wordsOf(error)))
  useEffect(() => show(askRules()), [])
  return (
    <FormBox title="Rules">
      {known && <p class="quiet act-about">{clean(known.file)}</p>}
      {known?.rules.length === 0 && (
        <p class="quiet">No rules yet. Select a tool call and press Override to add one.</p>
      )}
      <ul class="act-log" aria-label="Rules of this capture">
        {known?.rules.map(({ name, when, does }) => (
          <li key={name}>
            <b>{clean(name)}</b> {clean(when)}: {clean(does)}{' '}
            <button
              type="button"
              class="button small"
              aria-label={`Remove ${clean(name)}`}
              onClick={() => show(askRules({ remove: name }))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
    </FormBox>
  )
}

/** A new rule: calls like this one get the user's response from now on, and do not reach the server. */
export function OverrideForm({ row }: { readonly row: number }) {
  const [start, setStart] = useState<string | undefined>(undefined)
  const [file, setFile] = useState('')
  useEffect(() => {
    void draft(row).then(setStart)
    askRules().then(
      (rules) => setFile(rules.file),
      (error: unknown) => tell(wordsOf(error), 'bad'),
    )
  }, [row])
  return (
    <FormBox title="Override the response">
      {start === '' && (
        <p class="quiet">This response cannot be overridden: its request or the response is not readable.</p>
      )}
      {start !== undefined && start !== '' && (
        <>
          <p class="quiet act-about">
            The rule becomes the first in {clean(file)} and takes effect immediately.
          </p>
          <TextForm
            label="Rule as YAML"
            start={start}
            verb="Add rule"
            submit={async (written) => {
              try {
                const { rules } = await askRules({ add: written })
                tell(`Rule added: ${rules[0]?.name ?? ''}`)
                return undefined
              } catch (error) {
                return wordsOf(error)
              }
            }}
          />
        </>
      )}
    </FormBox>
  )
}

async function draft(row: number): Promise<string> {
  const { request, answer } = door.rowFacts(row)
  if (request < 0 || answer < 0) return ''
  const call = toCall(saidBy(await door.detail(request)).text)
  return call ? ruleOf(call, saidBy(await door.detail(answer)).text) : ''
}
