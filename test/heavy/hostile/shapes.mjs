// @ts-check
/** Messages that grow in every way in which a peer can make one grow. The same size always gives the same bytes. */

/** @param {string} text @param {number} size */
const filled = (text, size) => text.repeat(Math.max(1, Math.floor(size / text.length)))

/** @param {string} text @param {number} size Elements of a list. */
const list = (text, size) => `[${filled(`${text},`, size)}${text}]`

/** @param {string} result */
const answer = (result) => `{"jsonrpc":"2.0","id":"hostile","result":${result}}`

/** @param {string} params */
const notice = (params) => `{"jsonrpc":"2.0","method":"notifications/x","params":${params}}`

/** @type {Readonly<Record<string, (size: number) => string>>} Lines of a stdio server, bodies of an HTTP one. */
export const lines = {
  'secrets in objects': (size) => answer(list('{"token":"x1"}', size)),
  'secrets as members of params': (size) => notice(`{${filled('"token":"x1",', size)}"a":1}`),
  'secrets as members of the message': (size) =>
    `{${filled('"token":"x1",', size)}"jsonrpc":"2.0","method":"notifications/x"}`,
  'secrets in one string': (size) => answer(`{"text":"${filled('&password=x1234567', size)}"}`),
  'secrets in strings': (size) => answer(list('"sk-ant-api03-abcdefghijklmnopqrstuvwxyz"', size)),
  'secrets in names': (size) => answer(`{${filled('"&password=x1234567":1,', size)}"a":1}`),
  'secrets below a long name': (size) =>
    answer(`{"${'n'.repeat(size / 2)}":${list('{"token":"x1"}', size / 2)}}`),
  'URLs with passwords': (size) => answer(`{"text":"${filled('https://user:secret@host/ ', size)}"}`),
  'JWTs that begin': (size) => answer(`{"text":"${filled('eyJ', size)}"}`),
  'private keys that begin': (size) =>
    answer(`{"text":"${filled('-----BEGIN RSA PRIVATE KEY-----\\n', size)}"}`),
  'JSON in strings': (size) => answer(`{"text":"${filled(String.raw`{\"password\":\"x\"}`, size)}"}`),
  escapes: (size) => answer(`{"text":"${filled(String.raw`\u0070\u0061\u0073\u0073`, size)}"}`),
  'noise of secrets': (size) => filled('password=x ', size),
  'noise of names': (size) => filled('key', size),
  'noise of blanks': (size) => `x${' '.repeat(size)}`,
  'requests in a batch': (size) => list('{"jsonrpc":"2.0","id":1,"method":"m"}', size),
  'nothing in a batch': (size) => list('{}', size),
  'lists in a batch': (size) => `[{},${filled('[],', size)}[]]`,
  'a batch with secrets': (size) =>
    list('{"jsonrpc":"2.0","id":1,"method":"m","params":{"token":"x1"}}', size),
  'a small batch with secrets': (size) =>
    `[${Array.from({ length: 9_000 }, (_, i) => `{"jsonrpc":"2.0","id":${i},"method":"m","params":${list('{"token":"x1"}', size / 9_000)}}`).join(',')}]`,
  'deep lists': (size) => answer('['.repeat(size / 2) + ']'.repeat(size / 2)),
  'deep objects': (size) =>
    answer(`${filled('{"a":', size * 0.8)}1${'}'.repeat(Math.floor((size * 0.8) / 5))}`),
  'deep messages': (size) => '['.repeat(size / 2) + ']'.repeat(size / 2),
  'deep members': (size) => `{"jsonrpc":"2.0","id":1,"x":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
  'deep, with many members': (size) =>
    `{"jsonrpc":"2.0","id":1,"x":${'['.repeat(30_000)}${']'.repeat(30_000)}${filled(',"a":1', size)}}`,
  'members of one name': (size) => `{"jsonrpc":"2.0","id":1,${filled('"result":{},', size)}"result":{}}`,
  'members of many names': (size) =>
    `{"jsonrpc":"2.0","id":1,"result":{${Array.from({ length: size / 14 }, (_, i) => `"n${i}":1`).join(',')}}}`,
  'members of the message': (size) => `{"jsonrpc":"2.0","id":1,${filled('"a":1,', size)}"result":{}}`,
  'empty lists': (size) => answer(list('[]', size)),
  'empty objects': (size) => answer(list('{}', size)),
  numbers: (size) => answer(list('0', size)),
  'a long number': (size) => answer(filled('1', size)),
  'a long id': (size) => `{"jsonrpc":"2.0","id":"${'i'.repeat(size)}","method":"ping"}`,
  'a long number as id': (size) => `{"jsonrpc":"2.0","id":1${'0'.repeat(size)},"method":"ping"}`,
  'a long exponent as id': (size) => `{"jsonrpc":"2.0","id":1e${'9'.repeat(size)},"method":"ping"}`,
  'a long method': (size) => `{"jsonrpc":"2.0","id":2,"method":"${'m'.repeat(size)}"}`,
  'a long name of a tool': (size) =>
    `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"${'n'.repeat(size)}"}}`,
  'a long progress token': (size) =>
    `{"jsonrpc":"2.0","id":4,"method":"x","params":{"_meta":{"progressToken":"${'p'.repeat(size)}"}}}`,
  'progress of a long token': (size) =>
    `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"${'p'.repeat(size)}","progress":1}}`,
  'a cancelled long id': (size) =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"${'i'.repeat(size)}"}}`,
  'a long task': (size) => answer(`{"task":{"taskId":"${'t'.repeat(size)}"}}`),
  'a long state': (size) => answer(`{"resultType":"input_required","requestState":"${'s'.repeat(size)}"}`),
  'inputs that are asked for': (size) =>
    answer(
      `{"resultType":"input_required","inputRequests":{${Array.from({ length: size / 14 }, (_, i) => `"n${i}":1`).join(',')}}}`,
    ),
  'a long name of an input': (size) =>
    answer(`{"resultType":"input_required","inputRequests":{"${'n'.repeat(size)}":1}}`),
  tools: (size) =>
    answer(`{"tools":${list('{"name":"t","inputSchema":{"properties":{"p":{"x-mcp-header":"H"}}}}', size)}}`),
  'properties of a tool': (size) =>
    answer(`{"tools":[{"name":"t","inputSchema":{"properties":{${filled('"p":{},', size)}"q":{}}}}]}`),
  'text beyond Latin-1': (size) => answer(`{"text":"€${'x'.repeat(size)}"}`),
  'text beyond Latin-1 with a CR': (size) => `${answer(`{"token":"x1","text":"€${'x'.repeat(size)}"}`)} \r `,
  'characters of four bytes': (size) => answer(`{"text":"${'😀'.repeat(size / 4)}"}`),
  CRs: (size) => `{"jsonrpc":"2.0","id":1,${'\r'.repeat(size)}"result":{}}`,
}

/** @type {Readonly<Record<string, (size: number) => string>>} Event streams of an HTTP server. */
export const streams = {
  'lines of data': (size) => `${filled('data:x\n', size)}\n`,
  'empty lines of data': (size) => `${filled('data\n', size)}\n`,
  'a message in many lines': (size) =>
    `${answer(list('1', size)).replaceAll(',', ',\ndata:').replace(/^/, 'data:')}\n\n`,
  'an event name': (size) => `event:${'e'.repeat(size)}\ndata:x\n\n`,
  'an event id': (size) => `id:${'i'.repeat(size)}\ndata:x\n\n`,
  'event ids': (size) => `${filled('id:1\n', size)}data:x\n\n`,
  'a retry': (size) => `retry:${'9'.repeat(size)}\ndata:x\n\n`,
  comments: (size) => `${filled(':\n', size)}data:x\n\n`,
  'unknown fields': (size) => `${filled('x:y\n', size)}data:x\n\n`,
  'blank lines': (size) => '\n'.repeat(size),
  CRs: (size) => `data:x${'\r'.repeat(size)}`,
  'small events': (size) => filled('data:x\n\n', size / 64),
  'an endpoint with parts': (size) => `event:endpoint\ndata:/${filled('a1b2c3d4/', size)}\n\n`,
  'an endpoint with parameters': (size) => `event:endpoint\ndata:/p?${filled('a=b&', size)}\n\n`,
  'an endpoint with question marks': (size) => `event:endpoint\ndata:/p${'?'.repeat(size)}\n\n`,
  'a session of an endpoint': (size) => `event:endpoint\ndata:/p?sessionId=${'s'.repeat(size)}\n\n`,
  'an event without an end': (size) => `data:${'x'.repeat(size)}`,
}

/** @type {Readonly<Record<string, () => string[]>>} Headers of an HTTP server: names and values in turns. */
export const heads = {
  'many headers': () => Array.from({ length: 20_000 }, (_, i) => (i % 2 === 0 ? 'a' : 'b')),
  'a long cookie': () => ['set-cookie', `a=${'b'.repeat(200_000)}`],
  'a long session': () => ['mcp-session-id', 's'.repeat(200_000)],
  'a location with parameters': () => ['location', `/?${filled('code=1&', 200_000)}`],
  secrets: () => ['x-a', filled('password=x1234567 ', 200_000)],
}
