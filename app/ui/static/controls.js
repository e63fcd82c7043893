export default function ({ data, setTriggerValue, parentElement }) {
  const told = parentElement.querySelector(".unused");
  const desk = (window.__desk = window.__desk || {});
  const same = desk.now && desk.now.turn === data.turn;
  desk.now = { ...data, send: setTriggerValue, told,
    sent: same ? desk.now.sent : null, sentAt: same ? desk.now.sentAt : 0 };
  // What was refused stays to be read for a while, also when the next item has come.
  if (!same && !(performance.now() - desk.refusedAt < 4000)) told.textContent = "";
  const onScreen = () => document.querySelector("[data-item]")?.dataset.item ?? "";
  const typing = (element) =>
    element && (["INPUT", "TEXTAREA", "SELECT"].includes(element.tagName) ||
      element.isContentEditable);
  const refuse = (one, many) => {
    const again = performance.now() - desk.refusedAt < 4000;
    desk.refused = again ? desk.refused + 1 : 1;
    desk.refusedAt = performance.now();
    desk.now.told.textContent = desk.refused > 1 ? `${desk.refused} ${many}` : one;
  };
  const send = (act, what, value) => {
    const now = desk.now;
    const name = document.querySelector('[class*="st-key-reviewer"] input');
    if (name && now.name !== null && name.value !== now.name) {
      refuse("The name was being changed: press again.",
        "presses came while the name was being changed: they were not used.");
      return;
    }
    const waiting = now.sent && performance.now() - now.sentAt < 5000;
    if (waiting || onScreen() !== now.item) {
      refuse(`${what} came before the next item was on screen: it was not used.`,
        "presses came before the next item was on screen: they were not used.");
      return;
    }
    now.sent = act;
    now.sentAt = performance.now();
    now.send("press", { act, item: now.item, acts: now.acts, value: value ?? null });
  };
  const onKey = (event) => {
    const now = desk.now;
    if (!now || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const element = event.composedPath()[0];
    if (event.key === "Escape" && typing(element)) { element.blur(); return; }
    if (typing(element) || document.querySelector('[role="dialog"]')) return;
    if (performance.now() < desk.deaf) return;
    // What has the focus is pressed by Enter, whatever else the key may mean.
    const pressed = "a, button, summary, [role=radio], [role=option]";
    if (event.key === "Enter" && element.closest?.(pressed)) return;
    if (event.key === "g") {
      const guide = document.querySelector("details.desk-guide");
      if (guide && !event.repeat) {
        guide.dataset.seen = "1"; // the reader's own choice: what was remembered comes too late
        guide.open = !guide.open;
      }
      return;
    }
    const act = now.keys[event.key];
    if (!act) return;
    event.preventDefault();
    // The note is open and was left by Esc: its key leads back into it.
    const open = act === "note" && now.mode === "note" && document.querySelector(now.field);
    if (open) { open.focus(); return; }
    if (!event.repeat) send(act, `The key ${event.key}`);
  };
  const press = (button, again) => {
    if (again && button.once) {
      // Nobody reads the next item within a double click.
      refuse("A double click counts once.", "clicks came too fast: they were not used.");
      return;
    }
    send(button.act, "The click");
  };
  drawButtons(parentElement.querySelector(".judging"), data.judging, press);
  drawButtons(parentElement.querySelector(".tools"), data.tools, press);
  drawStatus(parentElement, data.status);
  const onClick = (event) => {
    const guide = event.target.closest?.("details.desk-guide > summary")?.parentElement;
    if (guide) guide.dataset.seen = "1";
    const sentence = event.target.closest?.("[data-s]");
    if (!sentence || desk.now?.mode !== "evidence" || String(getSelection())) return;
    send("sentence", "The click", Number(sentence.dataset.s));
  };
  const onToggle = (event) => {
    // Until then it opens by itself, as it was drawn: that is nobody's choice.
    if (event.target.matches?.("details.desk-guide[data-seen]")) {
      try { localStorage.setItem("desk-guide", event.target.open ? "open" : "closed"); } catch {}
    }
  };
  const remember = () => {
    const guide = document.querySelector("details.desk-guide:not([data-seen])");
    if (!guide) return;
    guide.dataset.seen = "1";
    try { guide.open = localStorage.getItem("desk-guide") !== "closed"; } catch {}
  };
  if (!desk.off) {
    document.addEventListener("keydown", onKey);
    document.addEventListener("click", onClick);
    document.addEventListener("toggle", onToggle, true);
    desk.off = () => {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("click", onClick);
      document.removeEventListener("toggle", onToggle, true);
      desk.off = null;
      desk.now = null;
    };
  }
  requestAnimationFrame(remember);
  const typed = document.activeElement;
  if (desk.who !== data.who && typed?.closest('[class*="st-key-reviewer"]')) {
    typed.blur(); // the name is entered: keys grade now, and are no letters of it
  }
  desk.who = data.who;
  makeRoom(parentElement.querySelector(".judging"));
  if (!same && data.focus) {
    // Until the field is there, what is typed is meant for it and must not grade.
    desk.deaf = performance.now() + 1500;
    const focus = () => {
      const field = document.querySelector(data.field);
      if (field) {
        field.focus();
        if (field.tagName === "INPUT") field.select(); // other words take the place of these
        desk.deaf = 0;
      } else if (performance.now() < desk.deaf) requestAnimationFrame(focus);
    };
    requestAnimationFrame(focus);
  }
  requestAnimationFrame(() => {
    // A new item is read from its top; a document is opened where the chunk stands.
    if (desk.item !== data.item) {
      document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
      desk.item = data.item;
    }
    const here = document.querySelector(".desk-here:not([data-seen])");
    const box = here?.closest(".desk-whole");
    if (box) {
      here.dataset.seen = "1";
      box.scrollTop = here.offsetTop - box.offsetTop - 80;
    }
  });
  return () => desk.off?.();
}
