import { useState } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { CompletedField } from './completed-field.js'
import { ask, listOf } from './peer.js'
import { Pick, usePick } from './pick.js'
import { RunBox, useRun } from './run.js'
import { serverSays, session } from './session.js'
import { tell, wordsOf } from './state.js'
import { textIn } from './values.js'

/** As a server lists it. */
interface Resource {
  readonly uri?: unknown
  readonly uriTemplate?: unknown
  readonly name?: unknown
  readonly description?: unknown
}

export function ResourcesTab() {
  const pick = usePick(async () => {
    const templates = listOf<Resource>('resources/templates/list', 'resourceTemplates').catch(() => [])
    const all = [...(await listOf<Resource>('resources/list', 'resources')), ...(await templates)]
    return all.map((resource) => {
      const key = textIn(resource.uriTemplate) || textIn(resource.uri)
      const name = `${textIn(resource.name)} ${key}`.trim()
      return { key, name, about: textIn(resource.description), resource }
    })
  })
  return (
    <>
      <Pick label="Resource or template" none="The server has no resources." noun="resource" pick={pick} />
      {pick.chosen && (
        <Boundary key={pick.chosen.key}>
          <ResourceForm resource={pick.chosen.resource} />
        </Boundary>
      )}
    </>
  )
}

function ResourceForm({ resource }: { readonly resource: Resource }) {
  const template = textIn(resource.uriTemplate)
  const names = [...template.matchAll(/\{[+#./;?&]?([\w.,*:]{1,200})\}/g)].flatMap(([, inside]) =>
    inside!.split(',').map((name) => name.replace(/(?:\*|:\d+)$/, '')),
  )
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [written, setWritten] = useState<string | undefined>(undefined)
  const [subscribed, setSubscribed] = useState(false)
  const run = useRun()
  const uri = written ?? (template === '' ? textIn(resource.uri) : expand(template, values))
  const subscribe = async (): Promise<void> => {
    try {
      const { answer, error } = await ask(
        subscribed ? 'resources/unsubscribe' : 'resources/subscribe',
        JSON.stringify({ uri }),
      )
      if (answer === undefined || 'error' in (JSON.parse(answer) as object)) throw new Error(error ?? answer)
      setSubscribed(!subscribed)
    } catch (problem) {
      tell(wordsOf(problem), 'bad')
    }
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void run.start('resources/read', JSON.stringify({ uri }))
      }}
    >
      {names.map((name) => (
        <CompletedField
          key={name}
          name={name}
          required={false}
          about=""
          reference={{ type: 'ref/resource', uri: template }}
          values={values}
          change={setValues}
        />
      ))}
      <label class="act-field">
        URI
        <input
          type="text"
          aria-label="URI"
          value={clean(uri)}
          onInput={({ currentTarget }) => setWritten(currentTarget.value)}
        />
      </label>
      <RunBox run={run} verb="Read">
        {session.value && serverSays.value.capabilities?.resources?.subscribe === true && (
          <button type="button" class="button" aria-pressed={subscribed} onClick={() => void subscribe()}>
            {subscribed ? 'Unsubscribe' : 'Subscribe'}
          </button>
        )}
      </RunBox>
    </form>
  )
}

/** Expands simple expressions of RFC 6570; others can be typed as a URI. */
function expand(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{([+#]?)([\w.]{1,200})\}/g, (_, operator: string, name: string) => {
    const value = values[name] ?? ''
    if (operator === '') return encodeURIComponent(value)
    return `${operator === '#' && value !== '' ? '#' : ''}${encodeURI(value)}`
  })
}
