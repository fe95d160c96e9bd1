// A button that opens a small panel below it; Esc or a click elsewhere closes it, as the browser does for every popover.

import { type ReactElement, type ReactNode, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./icons";

interface PopoverProps {
  readonly label: string;
  readonly icon: IconName;
  readonly pressed?: boolean;
  readonly children: ReactNode | ((close: () => void) => ReactNode);
}

export function Popover({ label, icon, pressed = false, children }: PopoverProps): ReactElement {
  const id = useId();
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  return (
    <>
      <button
        type="button"
        className="button plain square"
        title={label}
        aria-label={label}
        aria-pressed={pressed || undefined}
        popoverTarget={id}
      >
        <Icon name={icon} />
      </button>
      <div
        id={id}
        ref={box}
        className="popover panel"
        popover="auto"
        role="dialog"
        aria-labelledby={`${id}-title`}
        tabIndex={-1}
        onToggle={(event) => {
          if (event.target !== event.currentTarget) return; // React lets the toggle of a <details> inside come up to here
          setOpen(event.newState === "open");
          if (event.newState === "open") box.current?.focus();
        }}
      >
        <h2 id={`${id}-title`} className="unseen">
          {label}
        </h2>
        {open && (typeof children === "function" ? children(() => box.current?.hidePopover()) : children)}
      </div>
    </>
  );
}
