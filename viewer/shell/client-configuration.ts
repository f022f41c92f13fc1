/** The configuration with which most clients start a server through wiretape. */
export function clientConfiguration(name: string, command: readonly string[]): string {
  const args = ['-y', 'wiretape', 'record', '--label', name, '--', ...command]
  return JSON.stringify({ mcpServers: { [name]: { command: 'npx', args } } }, null, 2)
}
