// @ts-check
/**
 * Servers from npm, and the calls of a client. `FOLDER` in arguments is the folder of the run. As a client does with an
 * id, a call may use a value from earlier responses: its arguments are then a function of their texts. `file` is a
 * server of this folder, made with the package. `faults` are the known faults that `check` finds in it: tools by rule,
 * '' for none.
 *
 * @typedef {(said: string) => Record<string, unknown>} Made
 * @typedef {{
 * package: string, bin?: string, file?: string, args?: string[], env?: Record<string, string>,
 * faults?: Record<string, string[]>,
 * calls: [name: string, args: Record<string, unknown> | Made][],
 * }} Server
 */

/** @param {RegExp} pattern @param {string} said */
const taken = (pattern, said) => {
  const found = [...said.matchAll(new RegExp(pattern, 'g'))].at(-1)?.[1]
  if (found === undefined) throw new Error(`no answer has ${pattern} in it: ${said.slice(-300)}`)
  return found
}
const uuid = /([0-9a-f]{8}-[0-9a-f-]{27})/

/** @type {Record<string, Server>} */
export const servers = {
  everything: {
    package: '@modelcontextprotocol/server-everything@2026',
    bin: 'mcp-server-everything',
    calls: [
      ['echo', { message: 'tea' }],
      ['get-sum', { a: 2, b: 3 }],
      ['get-structured-content', { location: 'New York' }],
      ['get-resource-links', { count: 3 }],
      ['get-resource-reference', { resourceType: 'Text', resourceId: 1 }],
    ],
  },
  filesystem: {
    package: '@modelcontextprotocol/server-filesystem@2026',
    bin: 'mcp-server-filesystem',
    args: ['FOLDER/files'],
    calls: [
      ['write_file', { path: 'FOLDER/files/new.txt', content: 'new text' }],
      ['list_directory', { path: 'FOLDER/files' }],
      ['get_file_info', { path: 'FOLDER/files/new.txt' }],
      ['read_text_file', { path: 'FOLDER/files/a.txt' }],
    ],
  },
  memory: {
    package: '@modelcontextprotocol/server-memory@2026',
    bin: 'mcp-server-memory',
    env: { MEMORY_FILE_PATH: 'FOLDER/memory.json' },
    calls: [
      ['create_entities', { entities: [{ name: 'tea', entityType: 'drink', observations: ['hot'] }] }],
      ['search_nodes', { query: 'tea' }],
      ['read_graph', {}],
    ],
  },
  thinking: {
    package: '@modelcontextprotocol/server-sequential-thinking@2026',
    bin: 'mcp-server-sequential-thinking',
    calls: [
      ['sequentialthinking', { thought: 'one', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }],
      [
        'sequentialthinking',
        { thought: 'two', nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 },
      ],
    ],
  },
  'thinking tools': {
    package: 'mcp-sequentialthinking-tools@0',
    bin: 'mcp-sequentialthinking-tools',
    calls: [
      [
        'sequentialthinking_tools',
        {
          available_mcp_tools: ['search'],
          thought: 'one',
          next_thought_needed: true,
          thought_number: 1,
          total_thoughts: 2,
        },
      ],
    ],
  },
  'system monitor': {
    package: '@modelcontextprotocol/server-system-monitor@2',
    bin: 'mcp-system-monitor-server',
    args: ['--stdio'],
    calls: [
      ['get-system-info', {}],
      ['poll-system-stats', {}],
    ],
  },
  time: {
    package: 'time-mcp@1',
    bin: 'time-mcp',
    // It logs to stdout.
    faults: { 'protocol/stray-output': [''] },
    calls: [
      ['current_time', { format: 'YYYY-MM-DD HH:mm:ss' }],
      ['current_time', { format: 'h:mm:ss A', timezone: 'Asia/Tokyo' }],
      ['get_timestamp', {}],
      ['days_in_month', { date: '2026-02-01' }],
      ['get_week_year', { date: '2026-03-23' }],
    ],
  },
  calculator: {
    package: '@wrtnlabs/calculator-mcp@0',
    bin: 'calculator-mcp',
    // It logs to stdout.
    faults: { 'protocol/stray-output': [''] },
    calls: [
      ['add', { a: 2, b: 3 }],
      ['div', { a: 9, b: 3 }],
    ],
  },
  'calc-mcp': {
    package: '@coo-quack/calc-mcp@2',
    bin: 'calc-mcp',
    calls: [
      ['random', { type: 'uuid' }],
      ['random', { type: 'uuid', uuidVersion: 'v7' }],
      ['random', { type: 'ulid' }],
      ['datetime', { action: 'now' }],
      ['datetime', { action: 'now', timezone: 'Asia/Tokyo' }],
      ['hash', { input: 'tea', algorithm: 'sha1' }],
      ['date', { action: 'add', date: '2026-01-01', amount: 3, unit: 'days' }],
    ],
  },
  'server commands': {
    package: 'mcp-server-commands@0',
    bin: 'mcp-server-commands',
    calls: [
      ['run_command', { command: 'echo tea' }],
      ['run_command', { command: 'date; echo "pid $$"; mktemp -d -p FOLDER/tmp; date +%s%N' }],
    ],
  },
  'agent commands': {
    package: '@agent-infra/mcp-server-commands@1',
    bin: 'mcp-server-commands',
    // It logs to stdout.
    faults: { 'protocol/stray-output': [''] },
    calls: [
      ['run_command', { command: 'echo tea' }],
      ['run_command', { command: 'date +%Y-%m-%dT%H-%M-%S-%3NZ; date -R; LC_ALL=C date +"%x %X"' }],
      ['run_script', { script: 'echo "one two"', interpreter: 'bash' }],
    ],
  },
  'bash commands': {
    package: 'bash-command-mcp@0',
    bin: 'bash-command-mcp',
    calls: [
      ['run', { command: 'echo tea' }],
      ['run_background', { command: 'sleep 30' }],
      ['list_background', {}],
      ['tail_background', (said) => ({ pid: Number(taken(/PID: (\d+)/, said)), lines: 5 })],
      ['kill_background', (said) => ({ pid: Number(taken(/PID: (\d+)/, said)) })],
    ],
  },
  'just bash': {
    package: 'just-bash-mcp@3',
    bin: 'just-bash-mcp',
    calls: [
      ['bash', { command: 'echo tea | tr a-z A-Z' }],
      ['bash_write_file', { path: '/tmp/a.txt', content: 'text' }],
      ['bash_exec', { command: 'date; ls -l /' }],
    ],
  },
  'memory keeper': {
    package: 'mcp-memory-keeper@0',
    bin: 'mcp-memory-keeper',
    env: { DATA_DIR: 'FOLDER/keeper' },
    calls: [
      ['context_session_start', { name: 'work', description: 'tea' }],
      ['context_save', { key: 'a', value: 'hot tea', category: 'note' }],
      ['context_get', { key: 'a', includeMetadata: true }],
      ['context_checkpoint', { name: 'first' }],
      ['context_session_list', {}],
      ['context_get', (said) => ({ sessionId: taken(uuid, said) })],
      ['context_timeline', {}],
    ],
  },
  shrimp: {
    package: 'mcp-shrimp-task-manager@1',
    bin: 'mcp-shrimp-task-manager',
    // It requests roots, which the client does not support.
    faults: { 'protocol/capability': [''] },
    env: { DATA_DIR: 'FOLDER/shrimp', ENABLE_GUI: 'false' },
    calls: [
      [
        'split_tasks',
        {
          updateMode: 'append',
          tasksRaw: JSON.stringify([
            {
              name: 'tea',
              description: 'Make a cup of tea for everybody.',
              implementationGuide: 'Boil water first, then wait.',
              dependencies: [],
              relatedFiles: [],
              verificationCriteria: 'It is hot.',
            },
          ]),
        },
      ],
      ['list_tasks', { status: 'all' }],
      ['get_task_detail', (said) => ({ taskId: taken(uuid, said) })],
      ['execute_task', (said) => ({ taskId: taken(uuid, said) })],
    ],
  },
  git: {
    package: '@cyanheads/git-mcp-server@2',
    bin: 'git-mcp-server',
    env: { MCP_TRANSPORT_TYPE: 'stdio', GIT_SIGN_COMMITS: 'false' },
    calls: [
      ['git_init', { path: 'FOLDER/repo' }],
      ['git_add', { path: 'FOLDER/repo', all: true }],
      ['git_commit', { path: 'FOLDER/repo', message: 'first', allowEmpty: true }],
      ['git_log', { path: 'FOLDER/repo' }],
      ['git_show', (said) => ({ path: 'FOLDER/repo', object: taken(/([0-9a-f]{40})/, said) })],
    ],
  },
  'mcp-git': {
    package: 'mcp-git@0',
    bin: 'mcp-git',
    calls: [
      ['git_init', { repo_path: 'FOLDER/repo' }],
      ['git_status', { repo_path: 'FOLDER/repo' }],
      ['git_add', { repo_path: 'FOLDER/repo', files: ['a.txt'] }],
      ['git_commit', { repo_path: 'FOLDER/repo', message: 'first' }],
      ['git_log', { repo_path: 'FOLDER/repo', max_count: 3 }],
    ],
  },
  sqlite: {
    package: 'mcp-sqlite@1',
    bin: 'mcp-sqlite-server',
    args: ['FOLDER/a.db'],
    calls: [
      [
        'query',
        { sql: 'create table note (id integer primary key, said text, at text default current_timestamp)' },
      ],
      ['create_record', { table: 'note', data: { id: 7, said: 'tea' } }],
      ['read_records', { table: 'note' }],
      ['query', { sql: 'select abs(random()) % 1 as zero, id, said from note' }],
    ],
  },
  'sqlite npx': {
    package: 'mcp-server-sqlite-npx@0',
    bin: 'mcp-server-sqlite-npx',
    args: ['FOLDER/b.db'],
    calls: [
      ['create_table', { query: 'create table note (id integer primary key, said text, at text)' }],
      ['write_query', { query: "insert into note (said, at) values ('tea', datetime('now'))" }],
      ['read_query', { query: 'select * from note' }],
    ],
  },
  'memory bank': {
    package: '@allpepper/memory-bank-mcp@0',
    bin: 'mcp-server-memory-bank',
    env: { MEMORY_BANK_ROOT: 'FOLDER/bank' },
    calls: [
      ['memory_bank_write', { projectName: 'tea', fileName: 'a.md', content: '# hot' }],
      ['list_projects', {}],
      ['memory_bank_read', { projectName: 'tea', fileName: 'a.md' }],
    ],
  },
  'knowledge graph': {
    package: '@itseasy21/mcp-knowledge-graph@1',
    bin: 'mcp-knowledge-graph',
    args: ['--memory-path', 'FOLDER/graph.jsonl'],
    calls: [
      ['create_entities', { entities: [{ name: 'tea', entityType: 'drink', observations: ['hot'] }] }],
      ['read_graph', {}],
    ],
  },
  'task manager': {
    package: '@kazuph/mcp-taskmanager@1',
    bin: 'mcp-taskmanager',
    env: { TASK_MANAGER_FILE_PATH: 'FOLDER/tasks.json' },
    calls: [
      ['request_planning', { originalRequest: 'tea', tasks: [{ title: 'boil', description: 'water' }] }],
      ['get_next_task', (said) => ({ requestId: taken(/"requestId": ?"([^"]+)"/, said) })],
      ['list_requests', {}],
    ],
  },
  fastmcp: {
    package: 'fastmcp@4',
    file: 'fastmcp.mjs',
    calls: [
      ['price', { tea: 'green' }],
      ['order', { tea: 'green' }],
      ['show', (said) => ({ id: taken(uuid, said) })],
    ],
  },
  'mcp-framework': {
    package: 'mcp-framework@0',
    file: 'mcp-framework.mjs',
    calls: [
      ['add_row', { text: 'green tea' }],
      ['add_row', { text: 'black tea' }],
      ['list_rows', { word: 'tea' }],
    ],
  },
  'fast filesystem': {
    package: 'fast-filesystem-mcp@3',
    bin: 'fast-filesystem-mcp',
    args: ['FOLDER/files'],
    calls: [
      ['fast_write_file', { path: 'FOLDER/files/new.txt', content: 'new text' }],
      ['fast_get_file_info', { path: 'FOLDER/files/new.txt' }],
      ['fast_list_directory', { path: 'FOLDER/files' }],
      ['fast_read_file', { path: 'FOLDER/files/a.txt' }],
    ],
  },
}
