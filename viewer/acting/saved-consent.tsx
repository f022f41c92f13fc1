import { clean } from '../shell/clean.js'
import { Copied } from './copied.js'
import { FormBox } from './form-box.js'
import { asking, consent, type ShownServer } from './saved-run.js'

/** Shows every command and address that saved calls use; nothing starts before the user agrees. */
export function SavedConsent() {
  const asked = asking.value
  if (!asked) return null
  const hasCommand = asked.servers.some(({ folder }) => folder !== undefined)
  return (
    <FormBox title="Run saved calls" close={() => (asking.value = undefined)}>
      <p>
        {hasCommand
          ? 'These calls start the following commands under your account, without a shell.'
          : 'These calls connect to the following addresses.'}{' '}
        Others may have written these files: read them first. The page asks again after a reload.
      </p>
      {asked.servers.map((server) => (
        <Server key={server.code} server={server} />
      ))}
      <button type="button" class="button primary" onClick={() => void consent()}>
        {hasCommand ? 'Start and run' : 'Connect and run'}
      </button>
    </FormBox>
  )
}

function Server({ server }: { readonly server: ShownServer }) {
  const { shown, folder, environment, headers, isKnown } = server
  return (
    <section class="act-consent">
      {!isKnown && (
        <p class="warning" role="note">
          {folder === undefined
            ? 'You have no recording of this address on this machine.'
            : 'You have no recording of this command on this machine: somebody else may have written it.'}
        </p>
      )}
      <Copied text={clean(shown)} />
      {folder !== undefined && (
        <p class="quiet">
          Runs in <code>{clean(folder)}</code> with the environment of wiretape
          {environment.length > 0 && ' and the variables of the file'}.
        </p>
      )}
      {[...environment, ...headers].map((line) => (
        <p key={line}>
          <code>{clean(line)}</code>
        </p>
      ))}
    </section>
  )
}
