/** The configuration with which most clients start a server through wiretape. */
export function clientConfiguration(name: string, command: readonly string[]): string {
  const args = ['record', '--label', name, '--', ...command]
  return JSON.stringify({ mcpServers: { [name]: { command: 'wiretape', args } } }, null, 2)
}
