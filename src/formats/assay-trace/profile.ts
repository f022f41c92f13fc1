/**
 * Importer releases that define the rules: `documented` for those of its published document, `strict` for later
 * ones, which check JSON-RPC.
 */
export type Profile = 'documented' | 'strict'

export const profiles: readonly Profile[] = ['documented', 'strict']
