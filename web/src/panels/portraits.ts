// Pictures of people, drawn by the scene once it stands.

import { create } from "zustand";

interface Portraits {
  readonly draw: ((agent: string) => string) | null;
}

const useDrawing = create<Portraits>(() => ({ draw: null }));
const drawn = new Map<string, string>();

export const portraits = {
  /** The scene that can draw them; null when it is gone. */
  drawnBy(draw: ((agent: string) => string) | null): void {
    drawn.clear();
    useDrawing.setState({ draw });
  },
};

/** The picture of somebody; "" as long as nothing can draw it. */
export function usePortrait(agent: string): string {
  const draw = useDrawing((state) => state.draw);
  if (!draw) return "";
  const picture = drawn.get(agent) ?? draw(agent);
  drawn.set(agent, picture);
  return picture;
}
