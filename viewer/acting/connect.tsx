import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { askToAct } from './channel.js'
import { Copied } from './copied.js'
import { FormBox } from './form-box.js'
import { wordsOf } from './state.js'

/** A recording whose server a person wants to talk to. */
export const connecting = signal<{ readonly id: string; readonly label: string } | undefined>(undefined)

interface Shown {
  readonly shown: string
  readonly folder?: string
  readonly environment?: readonly string[]
  readonly why?: string
  /** The yes to just this, once. */
  readonly code?: string
}

/** Shows the whole command or URL, and connects when a person says so. */
export function ConnectForm({ id, label }: { readonly id: string; readonly label: string }) {
  const [server, setServer] = useState<Shown | undefined>(undefined)
  const [fault, setFault] = useState('')
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    askToAct(`./api/recordings/${id}/server`).then(
      (found) => setServer(found as Shown),
      (error: unknown) => setFault(wordsOf(error)),
    )
  }, [id])
  const connect = async (code: string): Promise<void> => {
    setBusy(true)
    setFault('')
    try {
      const { recording } = (await askToAct('./api/sessions', { code })) as { readonly recording: string }
      sessionStorage.setItem('wiretape-bench', recording)
      location.assign(`./?open=${encodeURIComponent(recording)}`)
    } catch (error) {
      setFault(wordsOf(error))
      setBusy(false)
      // A code is worth one start.
      askToAct(`./api/recordings/${id}/server`).then(
        (found) => setServer(found as Shown),
        () => undefined,
      )
    }
  }
  const isCommand = server?.folder !== undefined
  const environment = server?.environment ?? []
  return (
    <FormBox title="Connect to the recorded server" close={() => (connecting.value = undefined)}>
      <p>
        {server?.why !== undefined
          ? `This is how the server of ${clean(label)} was reached. wiretape does not start it: ${clean(server.why)}.`
          : server && isCommand
            ? `This command starts the server of ${clean(label)} again. It is run as you, without a shell.`
            : server
              ? `wiretape connects to this address, where the server of ${clean(label)} was.`
              : 'Reading the recording…'}
      </p>
      {server && server.shown !== '' && <Copied text={clean(server.shown)} />}
      {server?.folder !== undefined && (
        <p class="quiet">
          In the folder <code>{clean(server.folder)}</code>, with the environment of wiretape.
        </p>
      )}
      {isCommand && (
        <details>
          <summary>{environment.length} variables of the environment</summary>
          <p class="act-about">{environment.map(clean).join(' ')}</p>
        </details>
      )}
      <p class="failure" role="alert">
        {clean(fault)}
      </p>
      {server?.code !== undefined && (
        <button
          type="button"
          class="button primary"
          disabled={busy}
          onClick={() => void connect(server.code!)}
        >
          {busy ? 'Connecting…' : isCommand ? 'Start and connect' : 'Connect'}
        </button>
      )}
    </FormBox>
  )
}
