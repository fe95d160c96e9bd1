// The camera: pan by drag and touch, zoom at whole numbers, follow with easing, always within the part of the view that is free.

import type * as Phaser from "phaser";
import type { Box } from "./bubbles";

const NEAREST = 5;
/** Pixels a mouse, or a less steady finger, may move and still click. */
const SLIP = { mouse: 6, finger: 14 } as const;
/** How far apart two fingers move for a step of the zoom. */
const PINCH = 1.3;

export interface CameraOptions {
  readonly width: number;
  readonly height: number;
  readonly calm: boolean;
  moved(): void;
  /** A click, in pixels of the world. */
  picked(x: number, y: number): void;
}

export interface Camera {
  goTo(x: number, y: number, atOnce: boolean): void;
  follow(x: number, y: number): void;
  letGo(): void;
  inset(covered: {
    readonly left: number;
    readonly right: number;
    readonly top: number;
    readonly bottom: number;
  }): void;
  zoomBy(step: 1 | -1): void;
  zoom(): number;
  step(ms: number): void;
  /** The free part of the view. */
  free(): Box;
  /** Where the mouse is over the scene, in the world and in the view; null for touch or outside. */
  pointer(): { readonly x: number; readonly y: number; readonly sx: number; readonly sy: number } | null;
  cursor(name: string): void;
  destroy(): void;
}

export function buildCamera(main: Phaser.Cameras.Scene2D.Camera, parent: HTMLElement, options: CameraOptions): Camera {
  main.roundPixels = true;
  let zoom = innerWidth < 700 ? 2 : innerWidth * innerHeight > 2_400_000 ? 3 : 2;
  /** The world's point in the middle of the free part, and where it is going. */
  let x = 0;
  let y = 0;
  let goal: { x: number; y: number; eased: boolean } | null = null;
  let covered = { left: 0, right: 0, top: 0, bottom: 0 };
  let hover: { sx: number; sy: number } | null = null;
  const down = new Map<number, { x: number; y: number }>();
  let slipped = 0;
  /** The view has moved under the pointers that are down. */
  let moving = false;
  let pinch = 0;
  let wheel = 0;
  parent.style.touchAction = "none";

  const free = (): Box => ({
    x: covered.left,
    y: covered.top,
    w: Math.max(120, main.width - covered.left - covered.right),
    h: Math.max(120, main.height - covered.top - covered.bottom),
  });
  const middle = (): { sx: number; sy: number } => {
    const box = free();
    return { sx: box.x + box.w / 2, sy: box.y + box.h / 2 };
  };

  function within(): void {
    const box = free();
    const w = box.w / zoom / 2;
    const h = box.h / zoom / 2;
    x = options.width < w * 2 ? options.width / 2 : Math.max(w, Math.min(options.width - w, x));
    y = options.height < h * 2 ? options.height / 2 : Math.max(h, Math.min(options.height - h, y));
  }

  function place(): void {
    within();
    const { sx, sy } = middle();
    main.setZoom(zoom);
    if (parent.dataset.zoom !== String(zoom)) parent.dataset.zoom = String(zoom);
    const cx = Math.round((x + (main.width / 2 - sx) / zoom) * zoom) / zoom;
    const cy = Math.round((y + (main.height / 2 - sy) / zoom) * zoom) / zoom;
    main.centerOn(cx, cy);
  }

  const world = (sx: number, sy: number): { x: number; y: number } => {
    const m = middle();
    return { x: x + (sx - m.sx) / zoom, y: y + (sy - m.sy) / zoom };
  };

  function zoomTo(next: number, sx: number, sy: number): void {
    const z = Math.max(1, Math.min(NEAREST, next));
    if (z === zoom) return;
    const at = world(sx, sy);
    const m = middle();
    zoom = z;
    x = at.x - (sx - m.sx) / zoom;
    y = at.y - (sy - m.sy) / zoom;
    if (goal && !goal.eased) goal = null;
    place();
  }

  const inView = (event: { clientX: number; clientY: number }): { x: number; y: number } => {
    const box = parent.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const spread = (): number => {
    const [a, b] = [...down.values()];
    return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
  };

  const slipOf = (event: PointerEvent): number => (event.pointerType === "mouse" ? SLIP.mouse : SLIP.finger);

  const listen: [EventTarget, string, (event: never) => void][] = [];
  const on = <E extends Event>(target: EventTarget, type: string, act: (event: E) => void): void => {
    target.addEventListener(type, act as EventListener, { passive: false });
    listen.push([target, type, act as (event: never) => void]);
  };

  on<PointerEvent>(parent, "pointerdown", (event) => {
    if (event.button > 0) return;
    down.set(event.pointerId, inView(event));
    if (down.size === 1) {
      slipped = 0;
      moving = false;
    }
    pinch = spread();
  });
  on<PointerEvent>(window, "pointermove", (event) => {
    const at = inView(event);
    const before = down.get(event.pointerId);
    if (!before) {
      hover = event.pointerType === "mouse" && parent.contains(event.target as Node) ? { sx: at.x, sy: at.y } : null;
      return;
    }
    down.set(event.pointerId, at);
    const slip = slipOf(event);
    if (down.size > 1) {
      slipped = slip + 1;
      const now = spread();
      const step = now > pinch * PINCH ? 1 : now < pinch / PINCH ? -1 : 0;
      if (pinch && step) {
        const all = [...down.values()];
        zoomTo(
          zoom + step,
          all.reduce((sum, one) => sum + one.x, 0) / all.length,
          all.reduce((sum, one) => sum + one.y, 0) / all.length,
        );
        pinch = now;
      }
    }
    const dx = at.x - before.x;
    const dy = at.y - before.y;
    slipped += Math.abs(dx) + Math.abs(dy);
    if (slipped <= slip) return;
    hover = null;
    if (!moving) options.moved();
    moving = true;
    goal = null;
    x -= dx / zoom / down.size;
    y -= dy / zoom / down.size;
    place();
  });
  const up = (event: PointerEvent): void => {
    if (!down.delete(event.pointerId) || down.size) return;
    const at = inView(event);
    if (event.type === "pointerup" && slipped <= slipOf(event)) {
      const to = world(at.x, at.y);
      options.picked(to.x, to.y);
    }
  };
  on<PointerEvent>(window, "pointerup", up);
  on<PointerEvent>(window, "pointercancel", up);
  on<PointerEvent>(parent, "pointerleave", () => void (hover = null));
  on<WheelEvent>(parent, "wheel", (event) => {
    event.preventDefault();
    wheel += event.deltaY;
    if (Math.abs(wheel) < 50) return;
    const at = inView(event);
    zoomTo(zoom + (wheel < 0 ? 1 : -1), at.x, at.y);
    wheel = 0;
  });

  return {
    goTo(toX, toY, atOnce) {
      goal = { x: toX, y: toY, eased: true };
      if (atOnce) {
        x = toX;
        y = toY;
        goal = null;
        place();
      }
    },
    follow(toX, toY) {
      if (down.size) return;
      goal = { x: toX, y: toY, eased: true };
    },
    letGo() {
      goal = null;
    },
    inset(next) {
      covered = { ...next };
      place();
    },
    zoomBy(step) {
      const { sx, sy } = middle();
      zoomTo(zoom + step, sx, sy);
    },
    zoom: () => zoom,
    step(ms) {
      if (goal) {
        const k = options.calm ? 1 : 1 - Math.exp(-ms / 240);
        x += (goal.x - x) * k;
        y += (goal.y - y) * k;
        if (Math.hypot(goal.x - x, goal.y - y) < 0.3) goal = null;
      }
      place();
    },
    free,
    pointer() {
      if (!hover || down.size) return null;
      return { ...world(hover.sx, hover.sy), ...hover };
    },
    cursor(name) {
      if (parent.style.cursor !== name) parent.style.cursor = name;
    },
    destroy() {
      for (const [target, type, act] of listen) target.removeEventListener(type, act as unknown as EventListener);
    },
  };
}
