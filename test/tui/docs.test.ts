import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { keyLabel, keyTable } from '../../src/tui/key-table.js'

it('docs/attach.md has every key, in the words of the help', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../docs/attach.md'), 'utf8')
  for (const { keys, help } of keyTable) {
    expect(text).toContain(`| ${keys.map((key) => `\`${keyLabel(key)}\``).join(' ')} | ${help} |`)
  }
})
