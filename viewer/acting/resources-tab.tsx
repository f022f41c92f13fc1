import { signal } from '@preact/signals'
import { clean } from '../shell/clean.js'
import { Boundary } from './boundary.js'
import { CompletedField } from './completed-field.js'
import { kept } from './kept.js'
import { ask, listOf } from './peer.js'
import { chosenIn, Pick, usePicker, useWanted } from './pick.js'
import { createRun, RunBox } from './run.js'
import { serverSays, session } from './session.js'
import { tell, wordsOf } from './state.js'
import { textIn } from './values.js'
import { wanted } from './wanted.js'

/** As a server lists it. */
interface Resource {
  readonly uri?: unknown
  readonly uriTemplate?: unknown
  readonly name?: unknown
  readonly description?: unknown
}

export function ResourcesTab() {
  const picker = usePicker('resources', async () => {
    const templates = listOf<Resource>('resources/templates/list', 'resourceTemplates').catch(() => [])
    const all = [...(await listOf<Resource>('resources/list', 'resources')), ...(await templates)]
    return all.map((resource) => {
      const key = textIn(resource.uriTemplate) || textIn(resource.uri)
      const name = `${textIn(resource.name)} ${key}`.trim()
      return { key, name, about: textIn(resource.description), resource }
    })
  })
  const chosen = chosenIn(picker)
  return (
    <>
      <Pick
        label="Resource or template"
        none="The server has no resources."
        noun="resource"
        picker={picker}
      />
      {chosen && (
        <Boundary key={chosen.key}>
          <ResourceForm
            resource={chosen.resource}
            isListed={picker.all.value?.some(({ key }) => key === wanted.value?.key) === true}
          />
        </Boundary>
      )}
    </>
  )
}

function ResourceForm(props: {
  readonly resource: Resource
  /** The wanted resource is listed, so this form shows no other. */
  readonly isListed: boolean
}) {
  const { resource, isListed } = props
  const template = textIn(resource.uriTemplate)
  const key = template || textIn(resource.uri)
  const names = [...template.matchAll(/\{[+#./;?&]?([\w.,*:]{1,200})\}/g)].flatMap(([, inside]) =>
    inside!.split(',').map((name) => name.replace(/(?:\*|:\d+)$/, '')),
  )
  const { values, written, subscribed, run } = kept(`resource ${key}`, () => ({
    values: signal<Readonly<Record<string, string>>>({}),
    /** The URI as the user typed it. */
    written: signal<string | undefined>(undefined),
    subscribed: signal(false),
    run: createRun(),
  }))
  useWanted('resources', isListed ? key : undefined, ({ key: uri }) => {
    if (uri !== key) written.value = uri
  })
  const uri = written.value ?? (template === '' ? textIn(resource.uri) : expand(template, values.value))
  const subscribe = async (): Promise<void> => {
    try {
      const { answer, error } = await ask(
        subscribed.value ? 'resources/unsubscribe' : 'resources/subscribe',
        JSON.stringify({ uri }),
      )
      if (answer === undefined || 'error' in (JSON.parse(answer) as object)) throw new Error(error ?? answer)
      subscribed.value = !subscribed.value
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
          values={values.value}
          change={(next) => (values.value = next)}
        />
      ))}
      <label class="act-field">
        URI
        <input
          type="text"
          aria-label="URI"
          value={clean(uri)}
          onInput={({ currentTarget }) => (written.value = currentTarget.value)}
        />
      </label>
      <RunBox run={run} verb="Read">
        {session.value && serverSays.value.capabilities?.resources?.subscribe === true && (
          <button
            type="button"
            class="button"
            aria-pressed={subscribed.value}
            onClick={() => void subscribe()}
          >
            {subscribed.value ? 'Unsubscribe' : 'Subscribe'}
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
