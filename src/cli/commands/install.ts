import { InvalidArgumentError, type Command } from 'commander'
import type { Io } from '../io.js'
import type { Outcome } from '../outcome.js'
import type { InstallCommandOptions } from '../run/install.js'
import { parseKeep } from '../keep-option.js'
import type { StatusOptions } from '../run/status.js'

export function registerInstall(program: Command, io: Io, outcome: Outcome): void {
  clientCommand(program, 'install')
    .summary('record the servers of your MCP clients')
    .description(
      "Puts the recorder in front of the MCP servers in your clients' configuration. Only the entries change; uninstall restores every byte.",
    )
    .option('--tracked', 'also change project files tracked by git')
    .option('--keep <time,size>', 'age and size of the recordings to keep (default: 30d,2GB)', checkedKeep)
    .option('--tag-key', 'tag equal secrets equally in all recordings, so that check can follow them')
    .addHelpText(
      'after',
      `
Examples:
  wiretape install --dry-run
  wiretape install cursor --server github
  wiretape install --all`,
    )
    .action(async (clients: string[], options: InstallCommandOptions) => {
      const { runInstall } = await import('../run/install.js')
      outcome.code = await runInstall(clients, options, io)
    })
}

export function registerUninstall(program: Command, io: Io, outcome: Outcome): void {
  clientCommand(program, 'uninstall')
    .summary('remove the recorder from your MCP clients')
    .description("Restores the entries of your clients' configuration as they were before install.")
    .addHelpText(
      'after',
      `
Examples:
  wiretape uninstall --all
  wiretape uninstall cursor --dry-run`,
    )
    .action(async (clients: string[], options: InstallCommandOptions) => {
      const { runUninstall } = await import('../run/install.js')
      outcome.code = await runUninstall(clients, options, io)
    })
}

export function registerStatus(program: Command, io: Io, outcome: Outcome): void {
  program
    .command('status')
    .summary('list the servers of all MCP clients, recorded or not')
    .description(
      'Lists the servers in the configuration of all MCP clients on this machine, and their recordings.',
    )
    .argument('[client...]', 'only these clients')
    .option('--policy', 'show each setting of the policy of this machine, and where it came from')
    .option('--fleet', 'show which hosts shipped recordings to a store, and how far each is behind')
    .option('--at <store>', 'with --fleet: the store (default: the target of the policy)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
Examples:
  wiretape status
  wiretape status cursor --json
  wiretape status --policy
  wiretape status --fleet --at s3://tapes`,
    )
    .action(async (clients: string[], options: StatusOptions) => {
      if (options.policy) {
        const { runStatusPolicy } = await import('../run/status-policy.js')
        outcome.code = await runStatusPolicy(options.json === true, io)
        return
      }
      if (options.fleet) {
        const { runStatusFleet } = await import('../run/status-fleet.js')
        outcome.code = await runStatusFleet(options, io)
        return
      }
      const { runStatus } = await import('../run/status.js')
      outcome.code = await runStatus(clients, options, io)
    })
}

function clientCommand(program: Command, name: string): Command {
  return program
    .command(name)
    .argument('[client...]', 'clients by name, such as cursor or claude-code (default: every client found)')
    .option('--server <name...>', 'only servers of this name')
    .option('--all', 'all servers of all clients, without asking')
    .option('--dry-run', 'show the changes as a diff, without making them')
}

function checkedKeep(value: string): string {
  try {
    parseKeep(value)
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error))
  }
  return value
}
