// A button that opens a small panel below it; Esc or a click elsewhere closes it.

import { type ReactElement, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./icons";

interface PopoverProps {
  readonly label: string;
  readonly icon: IconName;
  readonly text?: boolean;
  readonly pressed?: boolean;
  readonly children: ReactNode | ((close: () => void) => ReactNode);
}

export function Popover({ label, icon, text = false, pressed = false, children }: PopoverProps): ReactElement {
  const id = useId();
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLSpanElement>(null);
  const button = useRef<HTMLButtonElement>(null);

  useEffect(() => {
    if (!open) return undefined;
    const away = (event: PointerEvent): void => {
      if (event.target instanceof Node && !box.current?.contains(event.target)) setOpen(false);
    };
    document.addEventListener("pointerdown", away);
    box.current?.querySelector<HTMLElement>(".popover :is(button, input, select, textarea)")?.focus();
    return () => document.removeEventListener("pointerdown", away);
  }, [open]);

  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Esc closes it from wherever the focus is
    <span
      className="popover-box"
      ref={box}
      onKeyDown={(event) => {
        if (event.key === "Escape" && open) {
          event.preventDefault();
          event.stopPropagation();
          close();
        }
      }}
    >
      <button
        ref={button}
        type="button"
        className={`button plain${text ? "" : " square"}`}
        title={text ? undefined : label}
        aria-label={text ? undefined : label}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-pressed={pressed || undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name={icon} />
        {text && <span>{label}</span>}
      </button>
      {open && (
        <div id={id} className="popover panel" role="dialog" aria-label={label}>
          {typeof children === "function" ? children(close) : children}
        </div>
      )}
    </span>
  );
}
