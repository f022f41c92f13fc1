import { expect, it } from 'vitest'
import { messageModule } from '../message-module.js'

it('the WebAssembly module is there for the library too', async () => {
  const { moduleOfBuild } = await import('../../dist/proxy/files-of-build.js')
  expect(moduleOfBuild()).toEqual(messageModule)
})
