import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { callsIn, envelope, fallbackTime, imported, refusal, type Loose } from './import-stage.js'
import { runs } from '../long.js'

const call = (id: string, name = 'Calc', args = '{"a":1}', more = ''): string =>
  `{${more}"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
const result = (id: string, value = '{"sum":3}', more = ''): string =>
  `{${more}"jsonrpc":"2.0","id":${id},"result":${value}}`
const at = (ms: number): string => `"timestamp_ms":${ms},`

describe('ids', () => {
  it.each([
    ['true', 'a boolean'],
    ['false', 'a boolean'],
    ['[1]', 'an array'],
    ['{"a":1}', 'an object'],
  ])('%s is refused, in a notification too', async (id, what) => {
    const words = `JSON-RPC id on source line 2 must not be ${what}`
    expect(await refusal('jsonrpc', `${call('1')}\n${call(id)}\n`)).toContain(words)
    expect(await refusal('jsonrpc', `${call('1')}\n{"jsonrpc":"2.0","method":"n","id":${id}}`)).toContain(
      words,
    )
    const entries = [`{"request":${call('1')}}`, `{"request":${call(id)}}`]
    expect(await refusal('streamable-http', envelope(entries))).toContain(words)
  })

  it.each([
    ['7', '"7"'],
    ['"7"', '7'],
    ['1.0', '"1.0"'],
    ['1.5', '1.5'],
    ['-0', '"-0.0"'],
    ['1e3', '1000.0'],
    ['18446744073709551616', '"1.8446744073709552e+19"'],
    ['18446744073709551615', '"18446744073709551615"'],
    ['1E-7', '"1e-7"'],
    ['0.00001', '1e-5'],
    ['1e16', '"1e+16"'],
    ['123456789012345.5', '"123456789012345.5"'],
    ['""', '""'],
    ['"\\u0061"', '"a"'],
  ])('%s and %s are one', async (asked, answered) => {
    expect(callsIn(await imported('jsonrpc', `${call(asked)}\n${result(answered)}`))).toEqual([
      'Calc {"a":1} {"sum":3} null',
    ])
  })

  it.each([
    ['1', '1.0'],
    ['null', 'null'],
    ['null', '"null"'],
    ['1', '"01"'],
  ])('%s and %s are not', async (asked, answered) => {
    const { events } = await imported('jsonrpc', `${call(asked)}\n${result(answered)}`)
    const error = asked === 'null' ? null : 'timeout/no_response'
    expect(events.find(({ type }: Loose) => type === 'tool_call')).toMatchObject({ result: null, error })
  })

  it('of two calls refuse the file, answered or not; of other methods they may come again', async () => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
    expect(await refusal('jsonrpc', [call('1'), result('1'), call('"1"')].join('\n'))).toContain(
      'duplicate tools/call request id "1" at source line 3',
    )
    expect(await refusal('jsonrpc', [ping, result('1'), ping, call('1'), ping].join('\n'))).toBe('taken')
  })
})

describe('answers', () => {
  it('bind to the first; later ones are orphans, told and without an event', async () => {
    const got = await imported(
      'jsonrpc',
      [call('1'), result('1', '1'), result('1', '2'), result('"g"')].join('\n'),
    )
    expect(callsIn(got)).toEqual(['Calc {"a":1} 1 null'])
    expect(got.said).toEqual([
      'orphan ToolCallResponse with jsonrpc_id "1" in episode e',
      'orphan ToolCallResponse with jsonrpc_id "g" in episode e',
    ])
    expect(got.events.at(-1).final_output).toBe('{"sum":3}')
  })

  it('dated before their request, or not at all, are orphans, and it is said why', async () => {
    const lines = [
      call('1', 'a', '{}', at(2000)),
      result('1', '{}', at(1000)),
      call('2', 'b', '{}', at(500)),
      result('2'),
    ]
    const { events, said } = await imported('jsonrpc', lines.join('\n'))
    const calls = events.filter(({ type }) => type === 'tool_call')
    expect(calls.map(({ error }) => error)).toEqual(['timeout/no_response', 'timeout/no_response'])
    expect(said.filter((line) => line.startsWith('tools/call'))).toEqual([
      'tools/call "2" at 500 is not matched: the response with its id has no time and sorts first',
      'tools/call "1" at 2000 is not matched: the response with its id has the earlier time 1000',
    ])
  })

  it('to requests of other methods are no orphans, but counted', async () => {
    const ping = '{"jsonrpc":"2.0","id":9,"method":"ping"}'
    const got = await imported('jsonrpc', [ping, result('9', '{}')].join('\n'))
    expect(got.said).toEqual([
      'not about tools, so not in the trace: requests and notifications of other methods (1), responses to them (1)',
    ])
    expect(got.events.at(-1).final_output).toBe('{}')
  })

  it('that are errors keep their value', async () => {
    const error = '{"code":-32603,"message":"boom","data":{"1":1.0,"b":[1e3]}}'
    const got = await imported('jsonrpc', `${call('1')}\n{"jsonrpc":"2.0","id":1,"error": ${error} }`)
    expect(got.text).toContain(
      `"result":{"error":{"code":-32603,"message":"boom","data":{"1":1.0,"b":[1000.0]}}}`,
    )
    expect(got.events.at(-1).final_output).toBe(error.replace('1e3', '1000.0'))
  })

  it('that never come are told in the order in which they were asked', async () => {
    const got = await imported('jsonrpc', ['z', 'b', 'a'].map((id) => call(`"${id}"`, id)).join('\n'))
    expect(callsIn(got)).toEqual(['z', 'b', 'a'].map((id) => `${id} {"a":1} null timeout/no_response`))
  })

  it('with isError are results', async () => {
    expect(callsIn(await imported('jsonrpc', `${call('1')}\n${result('1', '{"isError":true}')}`))).toEqual([
      'Calc {"a":1} {"isError":true} null',
    ])
  })
})

describe('times', () => {
  it('sort before anything is paired; those without one come first', async () => {
    const got = await imported('jsonrpc', [result('1', '1', at(20)), call('1', 'A', '{}', at(10))].join('\n'))
    expect(callsIn(got)).toEqual(['A {} 1 null'])
    expect(got.events.map((e: Loose) => e.timestamp)).toEqual([10, 10, 20, 20])
    const skewed = await imported('jsonrpc', [call('1', 'A', '{}', at(10)), result('1')].join('\n'))
    expect(callsIn(skewed)).toEqual(['A {} null timeout/no_response'])
  })

  it('never go back in the trace, and end with the latest', async () => {
    const lines = [call('1', 'A', '{}', at(30)), call('2', 'B'), result('2', '2')]
    const got = await imported('jsonrpc', lines.join('\n'))
    expect(got.events.map((e: Loose) => e.timestamp)).toEqual([30, 30, 30, 30, 30, 30])
  })

  it.each(['"2026-01-01T00:00:00Z"', '1.0', '-1', 'null', '1e3'])(
    'that are %s count for nothing',
    async (time) => {
      const lines = [
        call('1', 'A', '{}', `"timestamp_ms":${time},"timestamp":7,`),
        call('2', 'B', '{}', `"timestamp":${time},`),
      ]
      const got = await imported('jsonrpc', lines.join('\n'))
      expect(got.events.map((e: Loose) => e.timestamp)).toEqual([7, 7, 7, 7, 7, 7])
    },
  )

  it('of entries count more than those of messages, and only they may not be anything', async () => {
    const message = call('1', 'A', '{}', at(1))
    const own = await imported(
      'streamable-http',
      envelope([`{"timestamp_ms":null,"timestamp":9,"request":${message}}`]),
    )
    expect(own.events[0].timestamp).toBe(1)
    const outer = await imported(
      'streamable-http',
      envelope([`{"timestamp_ms":18446744073709551615,"request":${message}}`]),
    )
    expect(outer.text).toContain('"timestamp":18446744073709551615')
    for (const [time, words] of [
      ['"1"', 'invalid type: string "1", expected u64'],
      ['1.5', 'invalid type: floating point `1.5`, expected u64'],
      ['-1', 'invalid value: integer `-1`, expected u64'],
    ]) {
      expect(
        await refusal('http-sse', envelope([`{"timestamp_ms":${time},"request":${message}}`], 'http-sse')),
      ).toMatch(`invalid http-sse transcript: ${words} at line 1 (entry 1)`)
    }
  })

  it('where there are none at all are one time that the caller gives', async () => {
    const { events, isUntimed } = await imported('jsonrpc', call('1'))
    expect(events.map((e: Loose) => e.timestamp)).toEqual([5, 5, 5, fallbackTime])
    expect(isUntimed).toBe(true)
    expect((await imported('jsonrpc', '')).isUntimed).toBe(false)
  })
})

describe('entries', () => {
  const request = call('1')

  it.each([
    ['{}', 1],
    [`{"request":${request},"response":{}}`, 1],
    ['{"request":null,"sse":null}', 1],
  ])('%s is not one', async (entry) => {
    const words = 'streamable-http transcript entry 2 must contain exactly one of request, response, or sse'
    expect(await refusal('streamable-http', envelope([`{"request":${request}}`, entry]))).toContain(words)
  })

  it.each([
    ['5', 'invalid type: integer `5`, expected struct TransportTranscriptEntry'],
    ['{"request":[]}', 'MCP event at source line 1 must be a JSON object'],
    ['{"response":"x"}', 'MCP event at source line 1 must be a JSON object'],
    ['{"sse":"x"}', 'invalid type: string "x", expected struct TransportSseEnvelope'],
    ['{"sse":{"event":"message"}}', 'missing field `data`'],
    ['{"sse":{"id":5,"data":{}}}', 'invalid type: integer `5`, expected a string'],
    ['{"sse":{"data":1,"data":2}}', 'duplicate field `data`'],
    ['{"request":{},"request":{}}', 'duplicate field `request`'],
  ])('%s is refused', async (entry, words) => {
    expect(await refusal('streamable-http', envelope([entry]))).toContain(words)
  })

  it.each([
    ['{}', 'transport must be "http-sse", found "missing"'],
    ['{"transport":null,"entries":[{}]}', 'transport must be "http-sse", found "missing"'],
    ['{"transport":"sse-legacy"}', 'transport must be "http-sse", found "sse-legacy"'],
    ['{"transport":1}', 'invalid type: integer `1`, expected a string'],
    ['{"transport":"http-sse","entries":null}', 'invalid type: null, expected a sequence'],
    ['{"transport":"http-sse","transport":"http-sse"}', 'duplicate field `transport`'],
    ['5', 'invalid type: integer `5`, expected struct TransportTranscript'],
    ['{"transport":"http-sse","entries":[]} x', 'trailing characters'],
    ['{"transport":"http-sse","entries":[', 'EOF while parsing'],
    ['{"transport":"x","entries":[5]}', 'expected struct TransportTranscriptEntry'],
  ])('the document %s is refused', async (text, words) => {
    expect(await refusal('http-sse', text)).toContain(words)
  })

  it('may be given by their place', async () => {
    const text = `["streamable-http",null,null,[[5,null,null,${request}],[6,null,null,null,null,["message",null,${result('1')}]]]]`
    const got = await imported('streamable-http', text)
    expect(callsIn(got)).toEqual(['Calc {"a":1} {"sum":3} null'])
    expect(got.events.at(-1).timestamp).toBe(6)
  })

  it('are none in an empty session', async () => {
    for (const text of ['{"transport":"http-sse","entries":[]}', '{"transport":"http-sse"}']) {
      expect((await imported('http-sse', text)).events.map((e: Loose) => e.type)).toEqual([
        'episode_start',
        'episode_end',
      ])
    }
    expect((await imported('jsonrpc', '\n \r\n')).events).toHaveLength(2)
    expect((await imported('inspector', '[]')).events).toHaveLength(2)
  })
})

describe('events of SSE', () => {
  const answer = result('1')
  const said = async (sse: string): Promise<[number, string[]]> => {
    const got = await imported(
      'http-sse',
      envelope([`{"request":${call('1')}}`, `{"sse":${sse}}`], 'http-sse'),
    )
    return [callsIn(got)[0]!.endsWith('null null') ? 1 : got.messages, got.said]
  }

  it.each([
    `{"data":${answer}}`,
    `{"event":null,"id":null,"retry":"x","data":${answer}}`,
    `{"event":"message","data":${JSON.stringify(answer)}}`,
    `{"event":"message","data":${JSON.stringify(JSON.stringify(` ${answer}\n`))}}`,
  ])('%s is a message', async (sse) => {
    expect((await said(sse))[0]).toBe(2)
  })

  it.each([
    `{"event":"endpoint","data":"/messages"}`,
    `{"event":"ping","data":${answer}}`,
    `{"event":"","data":${answer}}`,
    `{"event":"Message","data":${answer}}`,
    `{"data":5}`,
    `{"data":{"x":1}}`,
    `{"data":""}`,
  ])('%s is passed over and counted', async (sse) => {
    const got = await imported(
      'http-sse',
      envelope([`{"request":${call('1')}}`, `{"timestamp_ms":9,"sse":${sse}}`], 'http-sse'),
    )
    expect(got.messages).toBe(1)
    expect(got.events.at(-1).timestamp).toBe(fallbackTime)
    expect(got.said).toHaveLength(1)
    expect(got.said[0]).toMatch(/^not about tools, so not in the trace: SSE .* \(1\)$/)
  })

  it.each([`{"jsonrpc":"2.0","id":1,"res`, '[DONE]', `data: ${answer}`, `[${answer}]`])(
    'with data %s are named',
    async (data) => {
      const entries = [`{"request":${call('1')}}`, `{"sse":{"data":${JSON.stringify(data)}}}`]
      const { said: lines } = await imported('streamable-http', envelope(entries))
      expect(lines[0]).toMatch(/^entry 2: SSE data is (?:not JSON: .* at line 1 column \d+|a batch)/)
    },
  )
})

describe('what is authorized', () => {
  const entry = (response: string): string => `{${response},"response":{}}`
  const seen = async (response: string): Promise<string> => {
    const { events } = await imported(
      'streamable-http',
      envelope([`{"request":${call('1')}}`, entry(response)]),
    )
    const found = events[0].meta.mcp.authorization_discovery
    expect(found.authorization_servers_visible).toBe(false)
    expect(found.source_kind).toBe(found.visible ? 'www_authenticate' : 'unknown')
    return `${found.visible} ${found.resource_metadata_visible} ${found.scope_challenge_visible}`
  }
  const challenge = (value: string, status = '401'): string =>
    `"transport_context":{"status":${status},"headers":{"www-AUTHENTICATE":${JSON.stringify(value)}}}`

  it.each([
    [challenge('Bearer resource_metadata="x", scope="y"'), 'true true true'],
    [challenge('Bearer scope="y"'), 'true false true'],
    [challenge('BEARER RESOURCE_METADATA=x'), 'true true false'],
    [challenge('scope='), 'true false true'],
    [challenge('Bearer scope=x', '"401"'), 'true false true'],
    [challenge('Bearer scope=x', '"+401"'), 'true false true'],
    [challenge('Bearer scope=x', '401.0'), 'false false false'],
    [challenge('Bearer scope=x', '"401 Unauthorized"'), 'false false false'],
    [challenge('Bearer scope=x', '403'), 'false false false'],
    [challenge('Bearer scope ="x"'), 'false false false'],
    [challenge('Bearer xscope=x;scope=y'), 'false false false'],
    [challenge('Bearer realm="x"'), 'false false false'],
    ['"transport_context":{"status":true,"http_status":401,"WWW-Authenticate":"scope=x"}', 'true false true'],
    [
      '"transport_context":{"response":{"status_code":401,"headers":{"www-authenticate":"scope=x"}}}',
      'true false true',
    ],
    ['"headers":{"status":401,"www-authenticate":"scope=x"}', 'true false true'],
    [
      '"transport_context":{"status":200},"headers":{"status":401,"www-authenticate":"scope=x"}',
      'false false false',
    ],
    ['"transport_context":{"statusCode":401,"www-authenticate":"scope=x"}', 'false false false'],
    ['"transport_context":{"status":401,"www-authenticate":["scope=x"]}', 'false false false'],
    [
      '"transport_context":{"status":401,"a":1,"WWW-Authenticate":"Basic","www-authenticate":"scope=x"}',
      'false false false',
    ],
  ])('%s: %s', async (response, what) => expect(await seen(response)).toBe(what))

  it('never comes from requests, events or the document', async () => {
    const context = challenge('scope=x')
    const text = `{"transport":"streamable-http",${context},"entries":[{${context},"request":${call('1')}},{${context},"sse":{"data":${result('1')}}}]}`
    const { events } = await imported('streamable-http', text)
    expect(events[0].meta.mcp.authorization_discovery.visible).toBe(false)
  })
})

describe('the trace', () => {
  it('has every member in its order', async () => {
    const lines = [
      '{"timestamp_ms":1,"id":0,"method":"tools/list"}',
      '{"timestamp_ms":2,"id":0,"result":{"nextCursor":"x","tools":[{"name":"echo","title":"t","description":"Echo","inputSchema":{"type":"object","b":1.0}},{"name":5,"input_schema":null},7]}}',
      call('"c"', 'Calc', '{ "b" : [1 , 2.50], "10":1, "a":"\\u00e9\\/\\n", "a":"x" }', at(3)),
    ]
    const got = await imported('jsonrpc', lines.join('\n'), {
      episode: { id: 'a"b', prompt: 'p', testId: 't' },
    })
    const tools =
      '{"tools":[{"name":"echo","description":"Echo","input_schema":{"type":"object","b":1.0},"tool_identity":null},' +
      '{"name":"unknown","description":null,"input_schema":null,"tool_identity":null},' +
      '{"name":"unknown","description":null,"input_schema":null,"tool_identity":null}]}'
    expect(got.text.split('\n')).toEqual([
      String.raw`{"type":"episode_start","episode_id":"a\"b","timestamp":1,"input":{"prompt":"p"},"meta":{"source":"mcp_import","episode_id":"a\"b","mcp":{"authorization_discovery":{"visible":false,"source_kind":"unknown","resource_metadata_visible":false,"authorization_servers_visible":false,"scope_challenge_visible":false}},"test_id":"t"}}`,
      String.raw`{"type":"step","episode_id":"a\"b","step_id":"step_000","idx":0,"timestamp":1,"kind":"tool","name":"tools/list","content":"{}","content_sha256":null,"truncations":[],"meta":{}}`,
      String.raw`{"type":"step","episode_id":"a\"b","step_id":"step_001","idx":1,"timestamp":2,"kind":"tool","name":"tools/list.result","content":${JSON.stringify(tools)},"content_sha256":null,"truncations":[],"meta":{}}`,
      String.raw`{"type":"step","episode_id":"a\"b","step_id":"step_002","idx":2,"timestamp":3,"kind":"tool","name":"Calc","content":null,"content_sha256":null,"truncations":[],"meta":{"jsonrpc_id":"c"}}`,
      String.raw`{"type":"tool_call","episode_id":"a\"b","step_id":"step_002","timestamp":3,"tool_name":"Calc","call_index":0,"args":{"b":[1,2.5],"10":1,"a":"x"},"args_sha256":null,"result":null,"result_sha256":null,"error":"timeout/no_response","truncations":[]}`,
      String.raw`{"type":"episode_end","episode_id":"a\"b","timestamp":3,"outcome":null,"final_output":null}`,
      '',
    ])
  })
})

describe('one id on both sides', () => {
  const asks = '{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}'
  const sampled = '{"jsonrpc":"2.0","id":1,"result":{"model":"m"}}'
  const answered = '{"jsonrpc":"2.0","id":1,"result":{"sum":3}}'

  it('is told apart by who sent what, where the transcript says it', async () => {
    for (const [transport, slot] of [
      ['streamable-http', (text: string) => `{"sse":{"data":${text}}}`],
      ['streamable-http', (text: string) => `{"response":${text}}`],
      ['http-sse', (text: string) => `{"sse":{"data":${JSON.stringify(text)}}}`],
    ] as const) {
      const entries = [`{"request":${call('1')}}`, slot(asks), `{"request":${sampled}}`, slot(answered)]
      const got = await imported(transport, envelope(entries, transport))
      expect(callsIn(got)).toEqual(['Calc {"a":1} {"sum":3} null'])
      expect(got.said).toEqual([
        'not about tools, so not in the trace: requests and notifications of other methods (1), responses to them (1)',
      ])
    }
  })

  it('does not matter where nothing of the server is open: slots are not checked', async () => {
    const entries = [`{"request":${call('1')}}`, `{"request":${answered}}`]
    const got = await imported('streamable-http', envelope(entries))
    expect(callsIn(got)).toEqual(['Calc {"a":1} {"sum":3} null'])
  })

  it('goes to the call, and is said, where lines do not tell who sent them', async () => {
    const got = await imported('jsonrpc', [call('1'), asks, sampled, answered].join('\n'))
    expect(callsIn(got)).toEqual(['Calc {"a":1} {"model":"m"} null'])
    expect(got.said[0]).toBe(
      'two open requests share the id "1": the first response counts as that of the tools/call',
    )
  })
})

describe('what carries no tool meaning', () => {
  it('is counted as what it is', async () => {
    const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    const { said } = await imported('jsonrpc', `${call('1')}\n{"id":7}\n${note}\n`)
    expect(said).toEqual([
      'not about tools, so not in the trace: requests and notifications of other methods (1), ' +
        'objects that are neither requests nor responses (1)',
    ])
    const refused =
      '{"transport_context":{"status":401,"headers":{"WWW-Authenticate":"Bearer scope=x"}},"response":{}}'
    const http = await imported('streamable-http', envelope([`{"request":${call('1')}}`, refused]))
    expect(http.said).toEqual([
      'not about tools, so not in the trace: objects that are neither requests nor responses (1)',
    ])
  })
})

describe('a file that is none', () => {
  it.each([
    ['jsonrpc', `${call('1')}\n{"a":`, 'invalid JSON on line 2: EOF while parsing'],
    ['jsonrpc', `\n\n[${call('1')}]`, 'MCP event at source line 3 must be a JSON object'],
    ['jsonrpc', `{\n"jsonrpc":"2.0"}`, 'invalid JSON on line 1'],
    ['jsonrpc', '{"a":1e400,"method":"x"}', 'invalid JSON on line 1: number out of range at line 1 column 6'],
    ['jsonrpc', `{"method":"x","a":"\\ud800"}`, 'lone surrogate'],
    ['jsonrpc', `{"method":"x"}\u00a0{}`, 'invalid JSON on line 1: trailing characters at line 1 column 15'],
    ['jsonrpc', `{"method":"x","a":${'['.repeat(127)}${']'.repeat(127)}}`, 'recursion limit exceeded'],
    ['jsonrpc', '{"hello":1}\n{"world":2}', 'none of its 2 entries is an MCP message'],
    ['inspector', '', 'invalid inspector JSON: EOF while parsing a value at line 1'],
    ['inspector', '{"messages":[]}', 'no MCP message found'],
    ['inspector', '{"events":null}', 'no MCP message found'],
    ['inspector', '3', 'no MCP message found'],
    ['inspector', '[{"a":1},{"b":2}]', 'none of its 2 entries is an MCP message'],
    ['inspector', `[${call('1')},5]`, 'MCP event at source line 2 must be a JSON object'],
    ['inspector', `[${call('1')},{"a":tru}]`, 'invalid inspector JSON'],
  ])('%s %s', async (format, text, words) => expect(await refusal(format, text)).toContain(words))

  it('is told so when it is no UTF-8', async () => {
    const bytes = Uint8Array.of(...Buffer.from('{"method":"'), 0xff, ...Buffer.from('"}'))
    expect(await refusal('jsonrpc', bytes)).toContain('line 1: stream did not contain valid UTF-8')
  })

  it('may begin with a byte order mark, which is said', async () => {
    const got = await imported('jsonrpc', `\ufeff${call('1')}\r\n${result('1')}\r\n`)
    expect(callsIn(got)).toEqual(['Calc {"a":1} {"sum":3} null'])
    expect(got.said).toEqual(['starts with a byte order mark'])
  })
})

describe('a session', () => {
  const value = fc.oneof(
    fc.json({ maxDepth: 3 }),
    fc.constantFrom(
      '1.0',
      '12345678901234567890',
      '{"2":1,"1":2}',
      '"\\u00e9 😀"',
      '{"a":1,"a":2}',
      '-0',
      '1e3',
    ),
  )
  const session = fc.array(
    fc.record({
      kind: fc.constantFrom('call', 'late', 'list', 'ping', 'error', 'note', 'never'),
      args: value,
      out: value,
      gap: fc.nat(9),
    }),
    { maxLength: 12 },
  )
  const written = session.map((turns) => {
    const messages: { text: string; isAnswer: boolean; ms: number }[] = []
    let ms = 1000
    const say = (text: string, isAnswer: boolean): void => void messages.push({ text, isAnswer, ms })
    for (const [i, { kind, args, out, gap }] of turns.entries()) {
      ms += gap
      const id = i % 2 === 0 ? String(i) : `"id-${i}"`
      if (kind === 'note') say(`{"jsonrpc":"2.0","method":"notifications/progress","params":${args}}`, true)
      else if (kind === 'list' || kind === 'ping') {
        say(`{"jsonrpc":"2.0","id":${id},"method":"${kind === 'list' ? 'tools/list' : 'ping'}"}`, false)
        say(result(id, kind === 'list' ? `{"tools":[{"name":"x","inputSchema":${args}}]}` : '{}'), true)
      } else {
        say(call(id, `t${i}`, args), false)
        if (kind === 'error')
          say(`{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"","data":${out}}}`, true)
        else if (kind !== 'never') say(result(id, out), true)
        if (kind === 'late') say(result(id, out), true)
      }
    }
    return messages
  })

  it('gives the same events in every format', async () => {
    await fc.assert(
      fc.asyncProperty(
        written,
        fc.boolean(),
        fc.array(fc.nat(5000), { maxLength: 6 }),
        async (messages, asText, cuts) => {
          const lines = messages.map(({ text, ms }) => text.replace('{', `{"timestamp_ms":${ms},`))
          const entries = messages.map(
            ({ text, isAnswer, ms }) =>
              `{"timestamp_ms":${ms},"${isAnswer ? 'response' : 'request'}":${text}}`,
          )
          const events = messages.map(({ text, isAnswer, ms }) =>
            isAnswer
              ? `{"timestamp_ms":${ms},"sse":{"event":"message","id":"1","data":${asText ? JSON.stringify(text) : text}}}`
              : `{"timestamp_ms":${ms},"request":${text}}`,
          )
          const one = await imported('jsonrpc', lines.join('\n'), { cuts })
          const said = [
            await imported('streamable-http', envelope(entries), { cuts }),
            await imported(
              'http-sse',
              envelope(['{"timestamp_ms":1,"sse":{"event":"endpoint","data":"/m"}}', ...events], 'http-sse'),
            ),
            await imported('inspector', `[${lines.join(',')}]`),
            await imported('inspector', `{"x":1,"events":[${lines.join(',')}]}`),
          ]
          const first = messages.length === 0 ? [] : [one.text]
          for (const other of said) if (messages.length > 0) expect([other.text]).toEqual(first)
        },
      ),
      { numRuns: runs(240) },
    )
  })

  it('is the same when its lines stand in another order, as its times tell the order', async () => {
    await fc.assert(
      fc.asyncProperty(written, fc.infiniteStream(fc.nat()), async (messages, random) => {
        const lines = messages.map(({ text }, i) => text.replace('{', `{"timestamp_ms":${i + 1},`))
        const shuffled = lines
          .map((line) => [random.next().value as number, line] as const)
          .toSorted((a, b) => a[0] - b[0])
        const sorted = await imported('jsonrpc', lines.join('\n'))
        expect((await imported('jsonrpc', shuffled.map(([, line]) => line).join('\n'))).text).toBe(
          sorted.text,
        )
      }),
      { numRuns: runs(200) },
    )
  })

  it('is taken or refused, whatever is cut from it or changed in it', async () => {
    const entries = [
      `{"timestamp_ms":1,"request":${call('1')}}`,
      `{"sse":{"event":"message","data":${JSON.stringify(result('1'))}}}`,
    ]
    const lines = [call('1'), result('1')].join('\n')
    for (const [format, text] of [
      ['streamable-http', envelope(entries)],
      ['jsonrpc', lines],
      ['inspector', `[${lines.replace('\n', ',')}]`],
    ] as const) {
      const bytes = Buffer.from(text)
      for (let length = 0; length < bytes.length; length += 1) {
        expect(typeof (await refusal(format, bytes.subarray(0, length)))).toBe('string')
        for (const flip of [1, 0x80]) {
          const changed = Uint8Array.from(bytes)
          changed[length]! ^= flip
          const outcome = await imported(format, changed).catch((error: unknown) => error)
          if (outcome instanceof Error) expect(outcome.name).toBe('WiretapeError')
        }
      }
    }
  })
})

describe('payloads', () => {
  const leaves = [
    ['0', '-0.5', '1.50', '0.10', '10', 'true', 'null', '{}', '[]', '[ 1 ,2]', '"a.b0 :\\n\\"\\\\ 😀"'],
    ['"\\/"', '"\\u0061"', '"\\u000A"', '"\\ud83d\\ude00"', '"\u2028"', '{"a":1,"a":2}'],
    ['{"__proto__":1}', '{ "a" : 1.0e0 }', '{"a":{"b":1},"a":{"b":{"c":1}}}'],
  ].flat()
  const leaf = fc.constantFrom(...leaves)
  const { json } = fc.letrec<{ json: string }>((tie) => ({
    json: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('json'), { maxLength: 3 }).map((all) => `[${all.join(',')}]`),
      fc
        .array(fc.tuple(fc.constantFrom('a', 'b', 'c.0', 'd\\n'), tie('json')), { maxLength: 3 })
        .map((all) => `{${all.map(([name, value]) => `"${name}":${value}`).join(',')}}`),
    ),
  }))

  it('keep the order of members whose names are numbers', async () => {
    const { text } = await imported('jsonrpc', `${call('1')}\n${result('1', '{"a":1,"\\u0032":2}')}`)
    expect(text).toContain('"result":{"a":1,"2":2}')
  })

  it('are printed as JavaScript prints their values', async () => {
    const same = async (text: string): Promise<void> => {
      const { text: trace } = await imported('jsonrpc', `${call('1', 'Calc', text)}\n${result('1', text)}`)
      const printed = /"args":(.*),"args_sha256":null,"result":(.*),"result_sha256"/s.exec(trace)?.slice(1)
      // Importers print 1.0 as such.
      const expected = JSON.stringify(JSON.parse(text.replaceAll('1.0e0', '1')))
      expect(printed?.map((each) => each.replaceAll('1.0', '1'))).toEqual([expected, expected])
    }
    await fc.assert(fc.asyncProperty(json, same), { numRuns: runs(200) })
  })
})
