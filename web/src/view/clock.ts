// Simulated time as people read it. Moments are ISO texts in the run's own time, with or without a `Z`.

/** Milliseconds of a simulated moment. */
export function instant(iso: string): number {
  return Date.parse(/Z|[+-]\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`);
}

/** The moment of a tick, in milliseconds. */
export function momentOf(tick: number, start: string, tickMinutes: number): number {
  return instant(start) + tick * tickMinutes * 60_000;
}

/** The tick of a moment. */
export function tickOf(moment: number, start: string, tickMinutes: number): number {
  return Math.round((moment - instant(start)) / (tickMinutes * 60_000));
}

/** `07:05`. */
export function hourOf(moment: number): string {
  return new Date(moment).toISOString().slice(11, 16);
}

/** Days since the day the run began, from 1. */
export function dayOf(moment: number, start: string): number {
  const day = 86_400_000;
  return Math.floor(moment / day) - Math.floor(instant(start) / day) + 1;
}

/** Hours since midnight, 0 ≤ h < 24. */
export function hoursOf(moment: number): number {
  const date = new Date(moment);
  return date.getUTCHours() + date.getUTCMinutes() / 60;
}
