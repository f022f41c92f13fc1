export { YamlFile, type Node, type StringJson, type YamlMember } from './yaml-file.js'
