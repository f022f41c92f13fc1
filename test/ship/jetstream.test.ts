import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../src/ship/index.js'
import { leftOut } from '../behaviour/run-cli.js'
import { hasServer, useJetStream } from './jetstream-stage.js'

const stream = 'OBJ_wiretape-segments'

describe.skipIf(leftOut(hasServer, 'JetStream, which needs nats-server'))('JetStream as a store', () => {
  const store = useJetStream()

  it('gives back an object of many chunks, whole and in part', async () => {
    const bytes = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * i) % 251))
    await store().put('large', bytes)
    expect(Buffer.compare(await bytesOf(store().get('large')), bytes)).toBe(0)
    const part = await bytesOf(store().get('large', { at: 131_000, length: 200_000 }))
    expect(Buffer.compare(part, bytes.subarray(131_000, 331_000))).toBe(0)
  })

  it('takes an object whose chunks are gone for absent, says so to readers, and stores it again', async () => {
    // The state after an upload whose last message the server took without acknowledging it.
    await store().put('cut', Buffer.from('some bytes'))
    const entry = await store().manager.streams.getMessage(stream, {
      last_by_subj: `$O.wiretape-segments.M.${Buffer.from('cut').toString('base64url')}`,
    })
    const { nuid } = entry!.json<{ nuid: string }>()
    await store().manager.streams.purge(stream, { filter: `$O.wiretape-segments.C.${nuid}` })

    await expect(bytesOf(store().get('cut'))).rejects.toThrow('chunk 1 of 1 is missing in the Object Store')
    expect(await store().head('cut')).toBeUndefined()
    expect(await store().put('cut', Buffer.from('some bytes'), { ifAbsent: true })).toBe('stored')
    expect(Buffer.from(await bytesOf(store().get('cut'))).toString()).toBe('some bytes')
    expect(await store().put('cut', Buffer.from('others'), { ifAbsent: true })).toBe('there')
  })

  it('leaves nothing of an object that is deleted', async () => {
    const messages = async (): Promise<number> => (await store().manager.streams.info(stream)).state.messages
    const before = await messages()
    for (const name of ['segments/ab/gone.json', 'hosts/a.json', 'hosts/ab.json']) {
      await store().put(name, Buffer.alloc(300_000, 1))
      await store().delete(name)
      expect(await store().head(name)).toBeUndefined()
    }
    await store().delete('never-there')
    expect(await messages()).toBe(before)
  })

  it('announces a segment once, and again when it was collected and stored anew', async () => {
    const announce = async (isStored: boolean): Promise<number> => {
      await store().announce!('h', 'hash', Buffer.from('{}'), isStored)
      return (await store().manager.streams.info('WIRETAPE')).state.messages
    }
    expect(await announce(true)).toBe(1)
    expect(await announce(false)).toBe(1)
    expect(await announce(true)).toBe(2)
  })
})
