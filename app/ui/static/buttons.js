// Buttons are changed in place and known by what they do: what has the focus keeps it, and never
// becomes another button under the finger.
function drawButtons(place, buttons, press) {
  const acts = new Set(buttons.map((button) => button.act));
  for (const element of [...place.children]) {
    if (!acts.has(element.dataset.act)) element.remove();
  }
  const there = new Map([...place.children].map((element) => [element.dataset.act, element]));
  buttons.forEach((button, index) => {
    const element = there.get(button.act) ?? newButton(button);
    if (place.children[index] !== element) {
      place.insertBefore(element, place.children[index] ?? null);
    }
    const [key, words] = element.children;
    key.textContent = button.key;
    words.textContent = button.key && button.words ? ` ${button.words}` : button.words;
    element.className = button.kind;
    if (!button.act) return;
    element.title = button.title ?? "";
    if (button.on === null) element.removeAttribute("aria-pressed");
    else element.setAttribute("aria-pressed", String(button.on));
    element.onclick = (event) => press(button, event.detail > 1);
  });
}

function newButton(button) {
  const element = document.createElement(button.act ? "button" : "span");
  element.append(document.createElement("b"), document.createElement("span"));
  element.dataset.act = button.act;
  if (!button.act) return element;
  element.type = "button";
  // Enter repeats while it is held: it counts once, as any other key.
  element.onkeydown = (event) => {
    if (event.repeat && event.key === "Enter") event.preventDefault();
  };
  return element;
}

// The places of the words stay, also empty: a screen reader says what changes in a place it knows.
function drawStatus(place, status) {
  for (const kind of ["refused", "saved", "notice"]) {
    place.querySelector(`.${kind}`).textContent = status[kind] ?? "";
  }
  place.querySelector(".saved").title = status.why ?? "";
}

// The page ends with as much room as the bar takes, so that its last line can be read above it.
function makeRoom(place) {
  const bar = place.getRootNode().host.closest('[class*="st-key-bar"]');
  if (!bar || bar.desk) return;
  bar.desk = new ResizeObserver(() => {
    document.documentElement.style.setProperty("--desk-bar", `${bar.offsetHeight}px`);
  });
  bar.desk.observe(bar);
}
