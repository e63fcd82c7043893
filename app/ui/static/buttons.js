// Buttons are changed in place and not made anew: what has the focus keeps it.
function drawButtons(place, buttons, press) {
  buttons.forEach((button, index) => {
    const tag = button.act ? "BUTTON" : "SPAN";
    let element = place.children[index];
    if (element && element.tagName !== tag) {
      element.remove();
      element = null;
    }
    if (!element) {
      element = document.createElement(tag);
      element.append(document.createElement("b"), document.createElement("span"));
      place.insertBefore(element, place.children[index] ?? null);
    }
    const [key, words] = element.children;
    key.textContent = button.key;
    words.textContent = button.key && button.words ? ` ${button.words}` : button.words;
    if (element.dataset.act !== button.act) element.dataset.act = button.act;
    element.className = button.kind;
    if (tag === "SPAN") return;
    element.type = "button";
    if (button.on === null) element.removeAttribute("aria-pressed");
    else element.setAttribute("aria-pressed", String(button.on));
    element.onclick = (event) => press(button, event.detail > 1);
    // Enter repeats while it is held: it counts once, as any other key.
    element.onkeydown = (event) => {
      if (event.repeat && event.key === "Enter") event.preventDefault();
    };
  });
  while (place.children.length > buttons.length) place.lastElementChild.remove();
}

// The places of the words stay, so that a screen reader says what changes in them.
function drawStatus(place, status) {
  for (const kind of ["refused", "saved", "notice"]) {
    place.querySelector(`.${kind}`).textContent = status[kind] ?? "";
  }
  place.querySelector(".saved").title = status.why ?? "";
}
