/**
 * The token of `wiretape ui`. It is kept for this tab, so that reloading works, and sent in a header only:
 * cookies would go to every port of this machine, and URLs stay in histories.
 */
const key = 'wiretape-token'
const codePattern = /^#once=([\w-]{1,64})$/

/** Requests wait for this promise. */
let admission: Promise<void> = Promise.resolve()

/** Exchanges the code in the URL, if any, for the token. Must run before other code reads the URL. */
export function enter(): void {
  admission = takeToken().catch(() => undefined)
  // A changed fragment in the address bar does not reload the page.
  addEventListener('hashchange', () => {
    if (codePattern.test(location.hash)) location.reload()
  })
}

/** Removes the code from the URL at once. If it is invalid, later requests report the reason. */
async function takeToken(): Promise<void> {
  const code = codePattern.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  const response = await fetch('./api/token', { headers: { authorization: `Once ${code}` } })
  if (!response.ok) return
  const { token } = (await response.json()) as { readonly token: string }
  sessionStorage.setItem(key, token)
}

/** The headers for a request to wiretape, once `askWiretape` has resolved. */
export function tokenHeaders(): Record<string, string> {
  const token = sessionStorage.getItem(key)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** Sends a request to wiretape, with the token if there is one. */
export async function fetchWiretape(path: string, init: RequestInit = {}): Promise<Response> {
  await admission
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(tokenHeaders())) headers.set(name, value)
  return fetch(path, { ...init, headers })
}

/**
 * Requests JSON from wiretape.
 *
 * @throws Error with a message for the user
 */
export async function askWiretape(path: string): Promise<unknown> {
  const response = await fetchWiretape(path)
  if (response.ok) return response.json()
  throw new Error(`wiretape responded with HTTP ${response.status}: ${(await response.text()).trim()}`)
}
