export { readCompareFile, readCompareFileOf } from './compare-file.js'
