export { YamlFile, type Node, type YamlKind, type StringJson, type YamlMember } from './yaml-file.js'
