import { useState } from 'preact/hooks'
import { CompletedField } from './completed-field.js'
import { listOf } from './peer.js'
import { Pick, usePick } from './pick.js'
import { RunBox, useRun } from './run.js'

interface Prompt {
  readonly name: string
  readonly description?: string
  readonly arguments?: readonly {
    readonly name: string
    readonly description?: string
    readonly required?: boolean
  }[]
}

export function PromptsTab() {
  const pick = usePick(async () => {
    const prompts = await listOf<Prompt>('prompts/list', 'prompts')
    return prompts.map((prompt) => ({
      key: prompt.name,
      name: prompt.name,
      ...(prompt.description !== undefined && { about: prompt.description }),
      prompt,
    }))
  })
  return (
    <>
      <Pick label="Prompt" none="The server has no prompts." pick={pick} />
      {pick.chosen && <PromptForm key={pick.chosen.key} prompt={pick.chosen.prompt} />}
    </>
  )
}

function PromptForm({ prompt }: { readonly prompt: Prompt }) {
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const run = useRun()
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const given = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''))
        void run.start('prompts/get', JSON.stringify({ name: prompt.name, arguments: given }))
      }}
    >
      {(prompt.arguments ?? []).map((one) => (
        <CompletedField
          key={one.name}
          name={one.name}
          required={one.required === true}
          about={one.description}
          reference={{ type: 'ref/prompt', name: prompt.name }}
          values={values}
          change={setValues}
        />
      ))}
      <RunBox run={run} verb="Get the prompt" />
    </form>
  )
}
