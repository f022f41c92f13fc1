export { defaultLabel } from './label.js'
export {
  recordStdio,
  registryFolderIn,
  type CaptureResult,
  type StdioCaptureOptions,
} from './record-stdio.js'
