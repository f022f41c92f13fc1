import { join, resolve } from 'node:path'
import type { ConfigSyntax } from '../config/index.js'
import { dialects, type Dialect } from './dialect.js'
import {
  configHome,
  filesIn,
  foldersIn,
  localAppData,
  namedFolder,
  roaming,
  settingsOf,
  type Places,
} from './places.js'

/** A file in which a client may keep its servers. */
export interface ConfigPlace {
  readonly path: string
  readonly scope: 'user' | 'project' | 'local'
  readonly syntax: ConfigSyntax
  /** Member names that lead to the map, or the list, of servers. */
  readonly servers: readonly string[]
  readonly dialect: Dialect
}

export interface ManagingFile {
  readonly path: string
  /** The file decides only if it has one of these: rules with commands or URLs, which `install` changes. */
  readonly rules?: readonly string[]
}

/** An MCP client and the places of its configuration, checked against public sources in September 2026. */
export interface ClientKind {
  /** Name on the command line. */
  readonly id: string
  readonly name: string
  readonly places: (places: Places) => ConfigPlace[]
  /** Files that decide which servers run; if one exists, the client is left unchanged. */
  readonly managedBy?: (places: Places) => ManagingFile[]
}

interface Style {
  readonly syntax?: ConfigSyntax
  readonly servers?: readonly string[]
  readonly dialect?: Dialect
}

function user(path: string, style: Style = {}): ConfigPlace {
  const { syntax = 'json', servers = ['mcpServers'], dialect = dialects.plain } = style
  return { path, scope: 'user', syntax, servers, dialect }
}

function project(path: string, places: Places, style: Style = {}): ConfigPlace {
  return { ...user(resolve(places.cwd, path), style), scope: 'project' }
}

/** A client with one file below the home folder and, maybe, one below the project. */
function homely(id: string, name: string, path: string, inProject?: string, style: Style = {}): ClientKind {
  return {
    id,
    name,
    places: (places) => [
      user(join(places.home, path), style),
      ...(inProject === undefined ? [] : [project(inProject, places, style)]),
    ],
  }
}

const codeStyle: Style = { servers: ['servers'], dialect: dialects.cursor }

/** Visual Studio Code and its builds: the user's file, one per profile, the old member of the settings. */
function codeFolder(product: string, places: Places): ConfigPlace[] {
  const folder = join(settingsOf(product, places), 'User')
  return [
    user(join(folder, 'mcp.json'), codeStyle),
    ...foldersIn(join(folder, 'profiles')).map((profile) => user(join(profile, 'mcp.json'), codeStyle)),
    user(join(folder, 'settings.json'), { ...codeStyle, servers: ['mcp', 'servers'] }),
  ]
}

function code(id: string, name: string, product: string, remoteFolder: string): ClientKind {
  return {
    id,
    name,
    places: (places) => [
      ...codeFolder(product, places),
      user(join(places.home, remoteFolder, 'data', 'User', 'mcp.json'), codeStyle),
      project('.vscode/mcp.json', places, codeStyle),
    ],
  }
}

/** Editors with extension files below `globalStorage`. */
const editors = ['Code', 'Code - Insiders', 'VSCodium', 'Cursor', 'Windsurf']

function extensionFile(folder: string, file: string, places: Places): ConfigPlace[] {
  return editors.map((editor) =>
    user(join(settingsOf(editor, places), 'User', 'globalStorage', folder, 'settings', file)),
  )
}

function claudeDesktop(places: Places): ConfigPlace[] {
  const name = 'claude_desktop_config.json'
  const folders = [settingsOf('Claude', places)]
  if (places.platform === 'linux') folders.push(join(configHome(places), 'claude'))
  if (places.platform === 'win32') {
    // The Microsoft Store package has its own roaming folder.
    const packages = foldersIn(join(localAppData(places), 'Packages'), (each) => each.startsWith('Claude_'))
    folders.push(...packages.map((each) => join(each, 'LocalCache', 'Roaming', 'Claude')))
  }
  return folders.map((folder) => user(join(folder, name)))
}

function claudeCode(places: Places): ConfigPlace[] {
  const file = join(namedFolder('CLAUDE_CONFIG_DIR', places.home, places), '.claude.json')
  return [
    user(file),
    { ...user(file, { servers: ['projects', places.cwd, 'mcpServers'] }), scope: 'local' },
    project('.mcp.json', places),
  ]
}

function claudeCodeManaged(places: Places): ManagingFile[] {
  const { platform } = places
  const folder =
    platform === 'darwin'
      ? '/Library/Application Support/ClaudeCode'
      : platform === 'win32'
        ? String.raw`C:\Program Files\ClaudeCode`
        : '/etc/claude-code'
  const own = namedFolder('CLAUDE_CONFIG_DIR', join(places.home, '.claude'), places)
  const settings = [
    join(folder, 'managed-settings.json'),
    ...filesIn(join(folder, 'managed-settings.d'), ['.json']),
    join(own, 'remote-settings.json'),
    join(own, 'settings.json'),
    ...['settings.json', 'settings.local.json'].map((name) => join(places.cwd, '.claude', name)),
  ]
  const rules = ['allowedMcpServers', 'deniedMcpServers']
  return [{ path: join(folder, 'managed-mcp.json') }, ...settings.map((path) => ({ path, rules }))]
}

function codexManaged({ platform }: Places): ManagingFile[] {
  const folder = platform === 'win32' ? String.raw`C:\ProgramData\OpenAI\Codex` : '/etc/codex'
  return [{ path: join(folder, 'requirements.toml'), rules: ['mcp_servers'] }]
}

function zed(places: Places): ConfigPlace[] {
  const style = { servers: ['context_servers'] }
  // Sources disagree about macOS and Windows, so both places are checked.
  const folders = new Set([
    join(configHome(places), 'zed'),
    join(places.home, '.config', 'zed'),
    settingsOf('Zed', places),
  ])
  return [
    ...[...folders].map((folder) => user(join(folder, 'settings.json'), style)),
    project('.zed/settings.json', places, style),
  ]
}

/** opencode and Kilo keep the map under `mcp`, newer files under `mcp.servers`. */
function opencodeFiles(folder: string, name: string, places: Places): ConfigPlace[] {
  const styles = [['mcp'], ['mcp', 'servers']].map((servers) => ({ servers, dialect: dialects.opencode }))
  const files = [`${name}.json`, `${name}.jsonc`]
  return styles.flatMap((style) =>
    files.flatMap((file) => [
      user(join(configHome(places), folder, file), style),
      project(file, places, style),
      project(join(`.${folder}`, file), places, style),
    ]),
  )
}

function continueFiles(places: Places): ConfigPlace[] {
  const style: Style = { syntax: 'yaml' }
  const blocks = join(places.cwd, '.continue', 'mcpServers')
  return [
    user(join(places.home, '.continue', 'config.yaml'), style),
    ...filesIn(blocks, ['.yaml', '.yml']).map((file) => project(file, places, style)),
    ...filesIn(blocks, ['.json']).map((file) => project(file, places)),
  ]
}

function goose(places: Places): ConfigPlace[] {
  const style: Style = { syntax: 'yaml', servers: ['extensions'], dialect: dialects.goose }
  const folder =
    places.platform === 'win32'
      ? join(roaming(places), 'Block', 'goose', 'config')
      : join(configHome(places), 'goose')
  return [user(join(folder, 'config.yaml'), style), project('.goose/config.yaml', places, style)]
}

function tomlClient(id: string, name: string, variable: string, folder: string): ClientKind {
  const style: Style = { syntax: 'toml', servers: ['mcp_servers'], dialect: dialects.codex }
  return {
    id,
    name,
    places: (places) => [
      user(join(namedFolder(variable, join(places.home, folder), places), 'config.toml'), style),
      project(join(folder, 'config.toml'), places, style),
    ],
  }
}

function copilot(places: Places): ConfigPlace[] {
  const style = { dialect: dialects.copilot }
  const folders = new Set([
    namedFolder('COPILOT_HOME', join(places.home, '.copilot'), places),
    join(configHome(places), 'copilot'),
  ])
  return [
    ...[...folders].map((folder) => user(join(folder, 'mcp-config.json'), style)),
    project('.github/mcp.json', places, style),
  ]
}

function copilotJetBrains(places: Places): ConfigPlace[] {
  const folder =
    places.platform === 'win32'
      ? localAppData(places)
      : places.platform === 'darwin'
        ? join(places.home, 'Library', 'Application Support')
        : join(places.home, '.local', 'share')
  return [user(join(folder, 'github-copilot', 'intellij', 'mcp.json'), { servers: ['servers'] })]
}

function amazonQ(places: Places): ConfigPlace[] {
  const home = join(places.home, '.aws', 'amazonq')
  return [
    ...filesIn(join(home, 'cli-agents'), ['.json']).map((file) => user(file)),
    user(join(home, 'mcp.json')),
    user(join(home, 'agents', 'default.json')),
    ...filesIn(join(places.cwd, '.amazonq', 'cli-agents'), ['.json']).map((file) => project(file, places)),
    project('.amazonq/mcp.json', places),
  ]
}

function kimi(places: Places): ConfigPlace[] {
  const style = { dialect: dialects.kimi }
  return [
    user(join(namedFolder('KIMI_CODE_HOME', join(places.home, '.kimi-code'), places), 'mcp.json'), style),
    user(join(places.home, '.kimi', 'mcp.json'), style),
    project('.kimi-code/mcp.json', places, style),
  ]
}

/** Files in the form of Windsurf. */
function windsurf(home: string, ...paths: readonly string[]): ConfigPlace[] {
  return paths.map((path) => user(join(home, path), { dialect: dialects.windsurf }))
}

/** Every client that `install` knows, one per line. */
export const clientKinds: readonly ClientKind[] = [
  { id: 'claude-desktop', name: 'Claude Desktop', places: claudeDesktop },
  { id: 'claude-code', name: 'Claude Code', places: claudeCode, managedBy: claudeCodeManaged },
  homely('cursor', 'Cursor', '.cursor/mcp.json', '.cursor/mcp.json', { dialect: dialects.cursor }),
  code('vscode', 'VS Code', 'Code', '.vscode-server'),
  code('vscode-insiders', 'VS Code Insiders', 'Code - Insiders', '.vscode-server-insiders'),
  code('vscodium', 'VSCodium', 'VSCodium', '.vscodium-server'),
  {
    id: 'windsurf',
    name: 'Windsurf',
    places: ({ home }) => windsurf(home, '.codeium/windsurf/mcp_config.json', '.codeium/mcp_config.json'),
  },
  { id: 'zed', name: 'Zed', places: zed },
  {
    id: 'cline',
    name: 'Cline',
    places: (places) => [
      ...extensionFile('saoudrizwan.claude-dev', 'cline_mcp_settings.json', places),
      user(
        join(
          namedFolder('CLINE_DIR', join(places.home, '.cline'), places),
          'data/settings/cline_mcp_settings.json',
        ),
      ),
    ],
  },
  {
    id: 'roo',
    name: 'Roo Code',
    places: (places) => [
      ...extensionFile('rooveterinaryinc.roo-cline', 'mcp_settings.json', places),
      project('.roo/mcp.json', places),
    ],
  },
  { id: 'kilo', name: 'Kilo Code', places: (places) => opencodeFiles('kilo', 'kilo', places) },
  { id: 'continue', name: 'Continue', places: continueFiles },
  { id: 'goose', name: 'Goose', places: goose },
  { ...tomlClient('codex', 'Codex', 'CODEX_HOME', '.codex'), managedBy: codexManaged },
  homely('gemini', 'Gemini CLI', '.gemini/settings.json', '.gemini/settings.json', {
    dialect: dialects.gemini,
  }),
  {
    id: 'antigravity',
    name: 'Antigravity',
    places: ({ home }) =>
      windsurf(home, '.gemini/config/mcp_config.json', '.gemini/antigravity/mcp_config.json'),
  },
  { id: 'copilot', name: 'Copilot CLI', places: copilot },
  { id: 'copilot-jetbrains', name: 'Copilot for JetBrains', places: copilotJetBrains },
  homely('junie', 'Junie', '.junie/mcp/mcp.json', '.junie/mcp/mcp.json'),
  { id: 'amazon-q', name: 'Amazon Q', places: amazonQ },
  homely('kiro', 'Kiro', '.kiro/settings/mcp.json', '.kiro/settings/mcp.json'),
  {
    id: 'lm-studio',
    name: 'LM Studio',
    places: ({ home }) =>
      ['.lmstudio/mcp.json', '.cache/lm-studio/mcp.json'].map((path) => user(join(home, path))),
  },
  {
    id: 'warp',
    name: 'Warp',
    places: (places) => [user(join(places.home, '.warp', '.mcp.json')), project('.warp/.mcp.json', places)],
  },
  { id: 'opencode', name: 'opencode', places: (places) => opencodeFiles('opencode', 'opencode', places) },
  {
    id: 'amp',
    name: 'Amp',
    places: (places) => {
      const folder = places.platform === 'win32' ? roaming(places) : configHome(places)
      return [user(join(folder, 'amp', 'settings.json'), { servers: ['amp.mcpServers'] })]
    },
  },
  {
    id: 'crush',
    name: 'Crush',
    places: (places) => {
      const folder = places.platform === 'win32' ? localAppData(places) : configHome(places)
      const style = { servers: ['mcp'] }
      return [
        user(join(folder, 'crush', 'crush.json'), style),
        project('.crush.json', places, style),
        project('crush.json', places, style),
      ]
    },
  },
  tomlClient('grok', 'Grok Build', 'GROK_HOME', '.grok'),
  { id: 'kimi', name: 'Kimi', places: kimi },
  {
    id: 'vibe',
    name: 'Mistral Vibe',
    places: ({ home }) => [
      user(join(home, '.vibe', 'config.toml'), {
        syntax: 'toml',
        servers: ['mcp_servers'],
        dialect: dialects.kimi,
      }),
    ],
  },
  {
    id: 'trae',
    name: 'Trae',
    places: (places) => [user(join(settingsOf('Trae', places), 'User', 'mcp.json'))],
  },
  homely('factory', 'Factory Droid', '.factory/mcp.json', '.factory/mcp.json'),
  {
    id: 'qoder',
    name: 'Qoder',
    places: (places) => [
      user(
        places.platform === 'win32'
          ? join(roaming(places), 'Qoder', 'SharedClientCache', 'mcp.json')
          : join(places.home, '.qoder', 'mcp.json'),
      ),
    ],
  },
  homely('mastra', 'Mastra Code', '.mastracode/mcp.json', '.mastracode/mcp.json'),
  {
    id: 'pi',
    name: 'Pi',
    places: (places) => [
      user(join(namedFolder('PI_CODING_AGENT_DIR', join(places.home, '.pi', 'agent'), places), 'mcp.json')),
    ],
  },
  {
    id: 'mcporter',
    name: 'mcporter',
    places: (places) => [
      user(join(places.home, '.mcporter', 'mcporter.json')),
      user(join(places.home, '.mcporter', 'mcporter.jsonc')),
      project('config/mcporter.json', places),
    ],
  },
  homely('augment', 'Augment', '.augment/mcp.json'),
]
