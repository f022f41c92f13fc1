import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { clean } from '../shell/clean.js'
import { askToAct } from './channel.js'
import { Copied } from './copied.js'
import { FormBox } from './form-box.js'
import { wordsOf } from './state.js'
import { rememberFor, type Wanted } from './wanted.js'

/** The recording with the server to which the user wants to connect. */
export const connecting = signal<Connecting | undefined>(undefined)

interface Connecting {
  readonly id: string
  readonly label: string
  /** Filled in, once connected. */
  readonly request?: Wanted | undefined
}

interface Shown {
  readonly shown: string
  readonly folder?: string
  readonly environment?: readonly string[]
  readonly why?: string
  /** Permits this one start, once. */
  readonly code?: string
}

interface Header {
  readonly name: string
  readonly value: string
}

/** Shows the whole command or URL, and connects once the user confirms. */
export function ConnectForm({ id, label, request }: Connecting) {
  const [server, setServer] = useState<Shown | undefined>(undefined)
  const [fault, setFault] = useState('')
  const [busy, setBusy] = useState(false)
  const [headers, setHeaders] = useState<readonly Header[]>([])
  useEffect(() => {
    askToAct(`./api/recordings/${id}/server`).then(
      (found) => setServer(found as Shown),
      (error: unknown) => setFault(wordsOf(error)),
    )
  }, [id])
  const connect = async (code: string): Promise<void> => {
    setBusy(true)
    setFault('')
    const sent = headers.filter(({ name, value }) => `${name}${value}`.trim() !== '')
    try {
      const { recording } = (await askToAct('./api/sessions', {
        code,
        ...(sent.length > 0 && { headers: sent }),
      })) as { readonly recording: string }
      rememberFor(recording, request)
      location.assign(`./?open=${encodeURIComponent(recording)}`)
    } catch (error) {
      setFault(wordsOf(error))
      setBusy(false)
      // A code is valid for one start.
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
          ? `wiretape cannot connect to the server of ${clean(label)}: ${clean(server.why)}.`
          : server && isCommand
            ? `This command starts the server of ${clean(label)} again. It runs under your account, without a shell.`
            : server
              ? `wiretape connects to this address, recorded for ${clean(label)}.`
              : 'Reading the recording…'}
      </p>
      {server && server.shown !== '' && <Copied text={clean(server.shown)} />}
      {server?.folder !== undefined && (
        <p class="quiet">
          Runs in <code>{clean(server.folder)}</code> with the environment of wiretape.
        </p>
      )}
      {isCommand && (
        <details>
          <summary>{environment.length} environment variables</summary>
          <p class="act-about">{environment.map(clean).join(' ')}</p>
        </details>
      )}
      {server?.code !== undefined && !isCommand && <Headers headers={headers} change={setHeaders} />}
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

/** Headers sent with every request, such as a token. Values are not stored, and redacted in the recording. */
function Headers(props: {
  readonly headers: readonly Header[]
  readonly change: (headers: readonly Header[]) => void
}) {
  const { headers, change } = props
  const set = (at: number, part: Partial<Header>): void =>
    change(headers.map((one, i) => (i === at ? { ...one, ...part } : one)))
  return (
    <fieldset class="act-headers">
      <legend>Headers</legend>
      <p class="quiet">
        Sent with every request. Values are kept in memory only and redacted in the recording.
      </p>
      {headers.map(({ name, value }, i) => (
        <div key={i}>
          <input
            type="text"
            aria-label={`Name of header ${i + 1}`}
            placeholder="Authorization"
            autocomplete="off"
            spellcheck={false}
            value={name}
            onInput={({ currentTarget }) => set(i, { name: currentTarget.value })}
          />
          <input
            type="password"
            aria-label={`Value of header ${i + 1}`}
            placeholder="Bearer …"
            autocomplete="off"
            value={value}
            onInput={({ currentTarget }) => set(i, { value: currentTarget.value })}
          />
          <button
            type="button"
            class="button small"
            aria-label={`Remove header ${i + 1}`}
            onClick={() => change(headers.filter((_, at) => at !== i))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button small"
        onClick={() => change([...headers, { name: '', value: '' }])}
      >
        Add header
      </button>
    </fieldset>
  )
}
