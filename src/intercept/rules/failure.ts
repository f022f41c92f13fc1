/** Thrown, and caught, inside the folder: why a rule cannot be applied to a message. */
export class RuleFailure extends Error {}
