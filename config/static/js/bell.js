// Writes the number of unread notifications on the bell. Without this, or without an answer, the bell is a plain link.

const MOST_SHOWN = 99;
const bell = document.querySelector("[data-bell]");
if (bell) showUnread(bell).catch(() => {});

async function showUnread(link) {
  const answer = await fetch(link.dataset.bell, { headers: { Accept: "application/json" } });
  if (!answer.ok) return;
  const { unread } = await answer.json();
  if (!unread) return;
  const count = link.querySelector("[data-count]");
  count.textContent = unread > MOST_SHOWN ? `${MOST_SHOWN}+` : String(unread);
  count.hidden = false;
  link.setAttribute("aria-label", `Notifications, ${unread} unread`);
}
