/**
 * Which releases of the importer set the rules: `documented` those that its published document describes, `strict`
 * the later ones, which check JSON-RPC.
 */
export type Profile = 'documented' | 'strict'

export const profiles: readonly Profile[] = ['documented', 'strict']
