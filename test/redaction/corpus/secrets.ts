import { createRandom, fill } from './random.js'
import { keywords, vendors } from './vendors.js'

/** The place of a text in a recording. */
export type Surface = 'string' | 'line' | 'member' | 'command' | 'url' | 'path' | 'headers' | 'form'

/** A text with a secret in it. Of commands, headers and members the text is JSON. */
export interface Planted {
  readonly group: string
  readonly surface: Surface
  readonly text: string
  readonly secret: string
}

/** A context: the text around a secret, with `§` in its place, and the shape of the secret. */
export type Context = readonly [surface: Surface, text: string, shape?: string]

/** Shapes of passwords, as people and generators make them. */
const shapes = ['{w16}', '{a12}', 'S3cr3t!{w6}', '{b24}', '{h32}', 'p4ss-{a8}', '{w40}']

/** Each context with a secret of its own. */
export function plant(group: string, contexts: readonly Context[], seed: number): Planted[] {
  const random = createRandom(seed)
  return contexts.map(([surface, text, shape], i) => {
    const secret = fill(shape ?? shapes[i % shapes.length] ?? '{w16}', random)
    return { group, surface, text: text.replace('§', () => secret), secret }
  })
}

/** A token of every vendor in each of the contexts, by turns. */
export function plantVendors(around: readonly string[], seed: number): Planted[] {
  const random = createRandom(seed)
  return vendors.map(([family, shape], i) => {
    const token = fill(shape, random)
    const text = (around[i % around.length] ?? '§').replace('§', () => token)
    // Of an address what follows the host is the secret.
    const secret = token.startsWith('https://') ? token.slice(token.lastIndexOf('/') + 1) : token
    return { group: `vendor ${family}`, surface: i % 3 === 2 ? 'line' : 'string', text, secret }
  })
}

/** Tokens without a shape behind the name of their vendor. */
export function plantKeywords(around: readonly string[], seed: number): Planted[] {
  const random = createRandom(seed)
  return keywords.flatMap(([name, shape]) =>
    around.map((context): Planted => {
      const secret = fill(shape, random)
      return {
        group: `keyword ${context}`,
        surface: 'string',
        text: context.replace('NAME', name).replace('§', () => secret),
        secret,
      }
    }),
  )
}

const names =
  'password api_key client_secret auth_token secret_key encryption_key access_token signing_secret'.split(' ')
const written: readonly Context[] = names.flatMap((name): Context[] => [
  ['string', `${name} = "§"`],
  ['string', `${name}: §`],
  ['string', `  "${name}": "§",`],
  ['string', `const ${camel(name)} = '§'`],
  ['string', `${name.toUpperCase()}=§`],
  ['line', `${name}=§`],
])

function camel(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}

const code: readonly Context[] = [
  ['line', 'ENV DB_PASSWORD §'],
  ['line', 'Step 3/9 : ENV API_KEY §'],
  ['line', '| api_key | § |'],
  ['line', '[info] using token §', '{w40}'],
  ['line', 'password: § and so on', '{a12}9'],
  ['string', 'let password = Some("§");'],
  ['string', "password = b'§'"],
  ['string', "password = u'§'"],
  ['string', 'let token = String::from("§");'],
  ['string', 'apiKey := "§"'],
  ['string', 'var password string = "§"'],
  ['string', 'password: str = "§"'],
  ['string', 'private static final String API_KEY = "§";'],
  ['string', '$env:API_KEY = "§"'],
  ['string', "$password = ConvertTo-SecureString '§' -AsPlainText -Force"],
  ['string', "config.api_key = '§'"],
  ['string', "  password: '§',"],
  ['string', ":password => '§'"],
  ['string', "'password' => '§',"],
  ['string', "define('DB_PASSWORD', '§');"],
  ['string', 'client = Client(api_key="§")'],
  ['string', "new Client({ apiKey: '§' })"],
  ['string', 'ENV API_KEY §'],
  ['string', 'ENV DB_PASSWORD=§'],
  ['string', 'export SECRET_KEY_BASE=§'],
  ['string', 'DB_PASS=§'],
  ['string', 'ENCRYPTION_KEY=§'],
  ['string', 'setx API_KEY "§"'],
  ['string', '//registry.npmjs.org/:_authToken=§', '{u}'],
  ['string', 'host=db user=app password=§ dbname=x'],
  ['string', 'AccountName=x;AccountKey=§==;EndpointSuffix=core.windows.net', '{B86}'],
  ['string', 'Server=db;User Id=sa;Password=§;Encrypt=true'],
  ['string', 'machine example.com login me password §'],
  ['string', 'DB_PASSWORD=ab12&§'],
  ['string', 'DB_PASSWORD=ab12<§', 'x{w10}'],
  ['string', 'DB_PASSWORD=ab12>§'],
  ['string', 'DB_PASSWORD=ab12"§'],
  ['string', "DB_PASSWORD=ab12'§"],
  ['string', 'DB_PASSWORD=ab12`§'],
  ['line', 'Config { password: Some("§"), port: 1 }'],
  ['line', "{'password': b'§', 'n': 1}"],
  ['line', 'loaded token=Some(String("§"))'],
  ['line', 'PASSWORD=ab12&§ next'],
]

const documents: readonly Context[] = [
  ['string', '| Name | Value |\n|---|---|\n| API_KEY | § |\n'],
  ['string', '| user | password |\n|---|---|\n| jane | § |\n'],
  ['string', 'user,password,role\njane,§,admin\n'],
  ['string', 'user;api_key\njane;§\n'],
  ['string', 'user\ttoken\njane\t§\n'],
  ['string', '<input type="password" name="password" value="§">'],
  ['string', '<input type="hidden" name="access_token" value="§">'],
  ['string', '<input value="§" name="id_token" type="hidden"/>'],
  ['string', '<input type="hidden" name="code" value="§"/>', '{w32}'],
  ['string', '<password>§</password>'],
  ['string', '<add key="ApiKey" value="§" />'],
  ['string', '<property name="db.password" value="§"/>'],
  ['string', '- name: DB_PASSWORD\n  value: §\n'],
  ['string', 'name: "API_KEY"\nvalue: "§"\n'],
  ['string', 'apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  user: §\n', '{B24}'],
  ['string', 'kind: Secret\nstringData:\n  hello: §\n'],
  ['string', 'users:\n- name: me\n  user:\n    client-key-data: §\n', '{B120}'],
  ['string', '{"kty":"RSA","n":"abc","e":"AQAB","d":"§"}', '{b120}'],
  ['string', 'PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 1\n§\nPrivate-MAC: 00aa', '{B64}'],
  [
    'string',
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n§\n---- END SSH2 ENCRYPTED PRIVATE KEY ----',
    '{B64}',
  ],
  ['string', '-----BEGIN EC PRIVATE KEY-----\n§\n-----END EC PRIVATE KEY-----', '{B64}'],
  ['string', 'Content-Disposition: form-data; name="password"\r\n\r\n§\r\n--x'],
  ['string', 'Cookie: session=§; theme=dark'],
  ['string', 'Set-Cookie: sid=§; HttpOnly'],
  ['string', 'PRIVATE-TOKEN: §'],
  ['string', 'x-functions-key: §'],
  ['string', 'Ocp-Apim-Subscription-Key: §'],
  ['string', 'X-Auth-Key: §'],
  ['string', 'Authorization: Basic §', '{B24}'],
  ['string', 'Authorization: §', '{w32}'],
  ['string', 'Authorization: Token §'],
  ['string', '[default]\naws_access_key_id = AKIA\naws_secret_access_key = §\n', '{B40}'],
  ['string', 'PATH=/bin\nHOME=/root\nMYSQL_ROOT_PASSWORD=§\nLANG=C\n'],
]

const commands: readonly Context[] = [
  ['string', 'mysql -u root -p§ app'],
  ['string', 'sshpass -p § ssh host'],
  ['string', "sshpass -p '§' ssh host"],
  ['string', 'curl -u admin:§ https://example.com'],
  ['string', 'curl --user "admin:§" https://example.com'],
  ['string', 'server --password=§'],
  ['string', 'server --password § --port 1'],
  ['string', 'server --api-key "§"'],
  ['string', 'login --pat § --org x', '{a52}'],
  ['string', 'tool --key § run', '{w32}'],
  ['string', 'tool --auth §', '{w32}'],
  ['string', 'docker login -u me -p § registry'],
  ['string', 'redis-cli -a § ping'],
  ['string', 'curl -H "X-Api-Key: §" https://example.com'],
  ['string', 'unzip -P § a.zip'],
  ['string', 'PGPASSWORD=§ psql -h db'],
  ['string', 'server -t § --x', '{w32}'],
  ['line', '+ mysql -p§ -h db'],
  ['line', 'spawn: server --token=§'],
  ['line', 'spawn: server --pat §', '{a52}'],
  ['command', '["server","--password","§"]'],
  ['command', '["server","-p","§"]', '{w20}'],
  ['command', '["server","-t","§"]', '{w32}'],
  ['command', '["server","-k","§"]', '{w32}'],
  ['command', '["server","--key","§"]', '{w32}'],
  ['command', '["server","--key=§"]', '{w32}'],
  ['command', '["server","--pat","§"]'],
  ['command', '["server","--auth","§"]'],
  ['command', '["curl","-u","admin:§","https://example.com"]'],
  ['command', '["mysql","-uroot","-p§"]'],
  ['command', '["sshpass","-p","§","ssh","host"]'],
  ['command', '["docker","run","-e","DB_PASS=§","image"]'],
  ['command', '["docker","run","-eAPI_KEY=§","image"]'],
  ['command', '["npx","mcp-remote","https://mcp.example.com/s/§/mcp"]', '{w32}'],
  ['command', '["npx","mcp-remote","https://example.com/mcp","--header","Authorization:Bearer §"]'],
  ['command', '["npx","x","--header","X-Api-Key: §"]'],
  ['command', '["sh","-c","API_KEY=§ exec server"]'],
  ['command', '["server","--connection-string","postgres://u:§@h/db"]'],
]

const addresses: readonly Context[] = [
  ['url', 'https://mcp.zapier.com/api/mcp/s/§/mcp', '{w80}'],
  ['url', 'https://example.com/api/mcp/s/§/mcp', '{w32}'],
  ['url', 'https://mcp.example.com/§/sse', '{u}'],
  ['url', 'https://api.telegram.org/bot123456789:§/getMe', 'AA{b33}'],
  ['url', 'https://example.com/mcp?key=§', '{w32}'],
  ['url', 'https://example.com/mcp?sig=§', '{B43}'],
  ['url', 'https://example.com/mcp?api_key=§'],
  ['url', 'https://me:§@example.com/mcp'],
  ['path', '/api/mcp/s/§/mcp', '{w32}'],
  ['path', '/mcp/§', '{u}'],
  ['path', '/mcp?key=§', '{w32}'],
  ['path', '/cb?code=§&state=x'],
  ['path', '/x?redirect=https%3A%2F%2Fh%2F%3Faccess_token%3D§'],
  ['string', 'https://api.telegram.org/bot123456789:§/sendMessage', 'AA{b33}'],
  ['string', 'https://s3.amazonaws.com/b/k?X-Amz-Date=2026&X-Amz-Signature=§', '{h64}'],
  ['string', 'https://x.blob.core.windows.net/c/f?sv=2022&sig=§', '{w43}%3D'],
  ['string', 'https://storage.googleapis.com/b/o?Expires=1&Signature=§', '{w43}'],
  ['string', 'https://maps.example.com/js?key=§&v=3', '{w32}'],
  ['string', 'https://h/?next=https%3A%2F%2Fx%2F%3Ftoken%3D§%26n%3D1'],
  ['string', 'https://discordapp.com/api/webhooks/123456789012345678/§', '{b68}'],
  ['string', 'redis://:§@cache:6379/0'],
  ['form', 'grant_type=authorization_code&code=§&n=1'],
  ['form', 'client_id=x&client_secret=§'],
]

const members: readonly Context[] = [
  ['member', '{"device_code":"§"}'],
  ['member', '{"code":"§","grant_type":"authorization_code"}', '{w32}'],
  ['member', '{"code_verifier":"§"}', '{b43}'],
  ['member', '{"client_assertion":"§"}'],
  ['member', '{"db_pass":"§"}'],
  ['member', '{"encryptionKey":"§"}', '{w32}'],
  ['member', '{"signing_key":"§"}', '{w32}'],
  ['member', '{"accountKey":"§"}', '{w64}'],
  ['member', '{"kty":"EC","d":"§"}', '{b43}'],
  ['member', '{"name":"DB_PASSWORD","value":"§"}'],
  ['member', '{"key":"api_key","value":"§"}'],
  ['member', '{"kind":"Secret","data":{"user":"§"}}', '{B24}'],
  ['member', '{"password":"§"}'],
  ['member', '{"auth":{"bearer":"§"}}'],
  ['member', '{"headers":{"x-functions-key":"§"}}', '{w40}'],
  ['member', '{"headers":{"cookie":"sid=§"}}', '{w32}'],
  ['member', '{"pat":"§"}', '{w40}'],
  ['member', '{"sessionToken":"§"}'],
  ['member', '{"env":{"SECRET_KEY_BASE":"§"}}'],
  ['member', '{"args":["--password","§"]}'],
  ['member', '{"args":["--api-key","§","-v"]}'],
  ['member', '{"snyk":"§"}', '{u}'],
  ['headers', '[["X-Functions-Key","§"]]', '{w40}'],
  ['headers', '[["Ocp-Apim-Subscription-Key","§"]]', '{h32}'],
  ['headers', '[["X-Auth-Key","§"]]', '{h32}'],
  ['headers', '[["PRIVATE-TOKEN","§"]]'],
  ['headers', '[["Link","<https://h/?access_token=§>; rel=next"]]'],
  ['headers', '[["X-Amz-Security-Token","§"]]'],
]

const around = [
  'the new one is § (keep it)',
  '§',
  'got §.',
  'value=§',
  '"§"',
  'first line\n§\nlast line',
  "['§']",
  'a,§,b',
  '{"x":"§"}',
  'found: §, next',
]

/** The corpus that the rules were made with. */
export const secrets: readonly Planted[] = [
  ...plantVendors(around, 1),
  ...plantKeywords(['NAME_key = "§"', 'NAME: §'], 2),
  ...plant('assignment', written, 3),
  ...plant('adversarial code', code, 4),
  ...plant('adversarial documents', documents, 5),
  ...plant('adversarial commands', commands, 6),
  ...plant('adversarial addresses', addresses, 7),
  ...plant('adversarial members', members, 8),
  ...plant('adversarial code', code, 9),
  ...plant('adversarial members', members, 10),
]
