export { UnpackError, type PackedFault } from './unpack-error.js'
export { canUnpack, packingOf, unpack, type Packing } from './unpack.js'
