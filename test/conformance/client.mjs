#!/usr/bin/env node
// @ts-check
/**
 * A client made with the official SDK, which does what the scenarios of the conformance suite ask clients for: it uses
 * everything that a server has, and logs in where that wants it. The suite starts it, with the URL of a server as last
 * argument.
 */
import {
  Client,
  ClientCredentialsProvider,
  CrossAppAccessProvider,
  PrivateKeyJwtProvider,
  requestJwtAuthorizationGrant,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'

const url = new URL(process.argv.at(-1) ?? '')
const { MCP_CONFORMANCE_PROTOCOL_VERSION: version = '2025-11-25', MCP_CONFORMANCE_CONTEXT: given = '{}' } =
  process.env
/** @type {any} */
const context = JSON.parse(given)
const isModern = version >= '2026-07-28'
/** Logins for one thing that is done. */
const mostLogins = 2

/** What came back from the place where a person would log in. @type {URLSearchParams | undefined} */
let cameBack

/** @returns {any} */
function createProvider() {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey, issuer } = context
  if (context.idp_id_token) {
    return new CrossAppAccessProvider({
      clientId,
      clientSecret,
      assertion: async ({ authorizationServerUrl, resourceUrl, scope, fetchFn }) => {
        const grant = await requestJwtAuthorizationGrant({
          tokenEndpoint: context.idp_token_endpoint,
          audience: authorizationServerUrl,
          resource: resourceUrl,
          idToken: context.idp_id_token,
          clientId: context.idp_client_id,
          ...(scope !== undefined && { scope }),
          fetchFn,
        })
        return grant.jwtAuthGrant
      },
    })
  }
  if (privateKey)
    return new PrivateKeyJwtProvider({ clientId, privateKey, algorithm: context.signing_algorithm })
  const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? ''
  if (scenario.includes('client-credentials'))
    return new ClientCredentialsProvider({ clientId, clientSecret })
  return createLoginProvider(
    clientId === undefined ? undefined : { client_id: clientId, client_secret: clientSecret, issuer },
  )
}

/** A person who always agrees. @param {any} registered */
function createLoginProvider(registered) {
  /** @type {any} */
  const kept = { information: registered }
  return {
    redirectUrl: 'http://localhost:3000/callback',
    clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
    clientMetadata: {
      client_name: 'wiretape-conformance',
      redirect_uris: ['http://localhost:3000/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      application_type: 'native',
    },
    clientInformation: () => kept.information,
    saveClientInformation: (/** @type {any} */ information) => void (kept.information = information),
    tokens: () => kept.tokens,
    saveTokens: (/** @type {any} */ tokens) => void (kept.tokens = tokens),
    saveCodeVerifier: (/** @type {string} */ verifier) => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier,
    invalidateCredentials(/** @type {string} */ what) {
      if (what === 'all' || what === 'tokens') delete kept.tokens
      if (what === 'all' || what === 'client') delete kept.information
      if (what === 'all' || what === 'discovery') delete kept.discovered
    },
    async redirectToAuthorization(/** @type {URL} */ to) {
      const answer = await fetch(to, { redirect: 'manual' })
      const location = answer.headers.get('location')
      cameBack = location === null ? undefined : new URL(location).searchParams
    },
  }
}

const provider = createProvider()
const makeTransport = () => new StreamableHTTPClientTransport(url, { authProvider: provider })
let transport = makeTransport()

/** @template T @param {() => Promise<T>} run @returns {Promise<T>} */
async function loggedIn(run) {
  for (let logins = 0; ; logins += 1) {
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || !cameBack || logins >= mostLogins) throw error
      const callback = cameBack
      cameBack = undefined
      await transport.finishAuth(callback)
    }
  }
}

const client = new Client(
  { name: 'wiretape-conformance', version: '1.0.0' },
  {
    capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
    versionNegotiation: { mode: isModern ? { pin: version } : 'legacy' },
  },
)
client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: {} }))
client.setRequestHandler('sampling/createMessage', async () => ({
  model: 'none',
  role: 'assistant',
  content: { type: 'text', text: 'yes' },
}))
client.setRequestHandler('roots/list', async () => ({ roots: [] }))

/** What fits a schema, well enough. @param {any} schema @returns {any} */
function sample(schema) {
  if (schema?.default !== undefined) return schema.default
  if (schema?.enum) return schema.enum[0]
  if (schema?.type === 'object' || schema?.properties)
    return Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, value]) => [name, sample(value)]),
    )
  if (schema?.type === 'array') return []
  if (schema?.type === 'integer' || schema?.type === 'number') return 1
  return schema?.type === 'boolean' ? true : 'x'
}

/** A step that fails leaves the next ones to be done. @param {() => Promise<unknown>} run */
async function step(run) {
  try {
    return await loggedIn(run)
  } catch (error) {
    console.error(String(error))
    process.exitCode = 1
    return undefined
  }
}

await loggedIn(async () => {
  try {
    await client.connect(transport)
  } catch (error) {
    if (error instanceof UnauthorizedError && cameBack) {
      await transport.finishAuth(cameBack)
      cameBack = undefined
      transport = makeTransport()
      return client.connect(transport)
    }
    throw error
  }
})
const capabilities = client.getServerCapabilities() ?? {}
/** @type {any} */
const listed = capabilities.tools ? await step(() => client.listTools()) : undefined
const focal = listed?.tools.find((/** @type {any} */ tool) => tool.inputSchema?.$defs)
for (const tool of listed?.tools ?? []) {
  const calls = context.toolCalls?.filter((/** @type {any} */ call) => call.name === tool.name) ?? []
  if (calls.length === 0) {
    const args = sample(tool.inputSchema)
    // One that takes anything says what the client has kept of the other's schema.
    if (focal && tool !== focal) for (const name of Object.keys(args)) args[name] = focal.inputSchema
    calls.push({ name: tool.name, arguments: args })
  }
  for (const call of calls) await step(() => client.callTool(call))
}
/** @type {any} */
const resources = capabilities.resources ? await step(() => client.listResources()) : undefined
for (const { uri } of resources?.resources ?? []) await step(() => client.readResource({ uri }))
/** @type {any} */
const prompts = capabilities.prompts ? await step(() => client.listPrompts()) : undefined
for (const { name } of prompts?.prompts ?? []) await step(() => client.getPrompt({ name }))
await client.close()
