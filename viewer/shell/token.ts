/**
 * The token of `wiretape ui`: kept for this tab, so that it can be reloaded, and sent in a header only. Cookies would go to
 * every port of this machine, and addresses stay in histories.
 */
const key = 'wiretape-token'
const codePattern = /^#once=([\w-]{1,64})$/

/** Requests wait for it. */
let admission: Promise<void> = Promise.resolve()

/** Gives the code in the address, if there is one, for the token. Before anything else looks at the address. */
export function enter(): void {
  admission = takeToken().catch(() => undefined)
  // Another address of the same page, put into the address bar, makes no new page by itself.
  addEventListener('hashchange', () => {
    if (codePattern.test(location.hash)) location.reload()
  })
}

/** The code is out of the address at once. Where it is worth nothing, the requests that follow say why. */
async function takeToken(): Promise<void> {
  const code = codePattern.exec(location.hash)?.[1]
  if (code === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  const response = await fetch('./api/token', { headers: { authorization: `Once ${code}` } })
  if (!response.ok) return
  const { token } = (await response.json()) as { readonly token: string }
  sessionStorage.setItem(key, token)
}

/** What a request to wiretape needs, once `askWiretape` has been answered. */
export function tokenHeaders(): Record<string, string> {
  const token = sessionStorage.getItem(key)
  return token === null ? {} : { authorization: `Bearer ${token}` }
}

/** A request to wiretape with the token, once there is one. */
export async function fetchWiretape(path: string, init: RequestInit = {}): Promise<Response> {
  await admission
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries(tokenHeaders())) headers.set(name, value)
  return fetch(path, { ...init, headers })
}

/**
 * Asks wiretape for JSON.
 *
 * @throws Error with a sentence for a person
 */
export async function askWiretape(path: string): Promise<unknown> {
  const response = await fetchWiretape(path)
  if (response.ok) return response.json()
  throw new Error(`wiretape answered ${response.status}: ${(await response.text()).trim()}`)
}
