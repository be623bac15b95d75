/* Points that are typed and not sent yet: says so beside each, counts them, and asks before the page is left without them. */

const form = document.querySelector("[data-points]");

if (form) {
  const status = form.querySelector("[data-points-status]");
  let isSending = false;

  const list = () => [...form.querySelectorAll("[data-answer]")];
  const isTyped = (answer) =>
    answer.querySelector('[name^="points-"]').value.trim() !== answer.querySelector('[name^="shown-"]').value.trim();

  const words = new Map(list().map((answer) => [answer, answer.querySelector("[data-state]")]));
  const originals = new Map([...words].map(([answer, badge]) => [answer, { text: badge.textContent, tone: badge.className }]));

  const show = () => {
    for (const [answer, badge] of words) {
      const { text, tone } = originals.get(answer);
      const isOpen = isTyped(answer) && text !== "Not saved";
      badge.textContent = isOpen ? "Not saved yet" : text;
      badge.className = isOpen ? "badge badge--warn" : tone;
    }
    const count = list().filter(isTyped).length;
    status.textContent = count ? `${count} not saved yet` : "";
  };

  form.addEventListener("input", show);
  form.addEventListener("submit", () => {
    isSending = true;
    status.textContent = "Saving…";
  });
  window.addEventListener("beforeunload", (event) => {
    if (!isSending && list().some(isTyped)) event.preventDefault();
  });
  // Back in the history: the browser may bring typed points back with the page, or the page as it was left.
  window.addEventListener("pageshow", () => {
    isSending = false;
    show();
  });
}
