/** `error`: proven, and breaks a MUST or shows harm. `warning`: proven otherwise, or strong. `note`: a pattern. */
export const levels = ['error', 'warning', 'note'] as const
export type Level = (typeof levels)[number]
