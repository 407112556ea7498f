// Puts a button beside each command that copies it.
"use strict";
const copies = () => {
	for (const command of document.querySelectorAll("[data-copy]")) {
		if (command.querySelector(".copy") || !navigator.clipboard) continue;
		const text = command.textContent;
		const button = document.createElement("button");
		button.type = "button";
		button.className = "second copy";
		button.textContent = "Copy";
		button.addEventListener("click", async () => { await navigator.clipboard.writeText(text); button.textContent = "Copied"; });
		command.prepend(button);
	}
};
copies();

// Reads the page again every few seconds, and replaces its content. Nothing is replaced while the
// page is hidden, a form has the focus or was filled in, or a text is selected.
(() => {
	const every = 1000 * Number(document.querySelector("main")?.dataset.refresh || 0);
	if (!every) return;
	let paused = false;

	const busy = () => {
		if (document.hidden || paused) return true;
		const main = document.querySelector("main");
		const focus = document.activeElement;
		if (focus && main.contains(focus) && focus.matches("input, select, textarea, button, summary")) return true;
		for (const field of main.querySelectorAll("form input:not([type=hidden]), form textarea")) {
			if (field.value !== field.defaultValue || field.checked !== field.defaultChecked) return true;
		}
		return String(getSelection()) !== "";
	};

	const live = (text) => {
		const at = document.querySelector("[data-live]");
		if (!at) return;
		const button = document.createElement("button");
		button.className = "second";
		button.textContent = paused ? "Refresh again" : "Pause";
		button.addEventListener("click", () => { paused = !paused; button.blur(); live(paused ? "paused" : "refreshed every 5 seconds"); });
		at.replaceChildren(text + " ", button);
	};

	// Says that what the page shows is no longer known.
	let read = new Date();
	const stale = () => {
		const main = document.querySelector("main"), state = document.querySelector(".bar .state");
		live("not refreshed");
		if (main.classList.contains("stale")) return;
		const box = document.createElement("p");
		box.className = "box unknown";
		box.setAttribute("role", "alert");
		box.textContent = `Not read since ${read.toISOString().slice(11, 19)} UTC: the console does not answer. What is below may no longer be so.`;
		main.classList.add("stale");
		main.prepend(box);
		state.className = "state unknown";
		state.textContent = "NOT KNOWN";
		document.title = document.title.replace(/^.*? · /, "NOT KNOWN · ");
	};

	const refresh = async () => {
		if (busy()) return;
		try {
			const answer = await fetch(location.href, { credentials: "same-origin", signal: AbortSignal.timeout(10000) });
			const page = new DOMParser().parseFromString(await answer.text(), "text/html");
			const fresh = page.querySelector("main");
			if (!fresh) throw new Error("no page");
			if (busy()) return;
			const old = document.querySelector("main");
			old.classList.remove("stale");
			if (answer.ok) read = new Date();
			const open = new Set([...old.querySelectorAll("details[open] > summary")].map((s) => s.textContent));
			for (const s of fresh.querySelectorAll("details > summary")) if (open.has(s.textContent)) s.parentElement.open = true;
			const focus = document.activeElement && old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
			const y = scrollY;
			old.replaceChildren(...fresh.childNodes);
			if (focus) [...old.querySelectorAll("a")].find((a) => a.getAttribute("href") === focus)?.focus({ preventScroll: true });
			scrollTo({ top: y, behavior: "instant" });
			document.title = page.title;
			document.querySelector(".bar").replaceChildren(...page.querySelector(".bar").childNodes);
			const icon = page.querySelector("link[rel=icon]"), was = document.querySelector("link[rel=icon]");
			if (icon && was.getAttribute("href") !== icon.getAttribute("href")) was.setAttribute("href", icon.getAttribute("href"));
			copies();
			live("refreshed every 5 seconds");
		} catch {
			stale();
		}
	};

	live("refreshed every 5 seconds");
	setInterval(refresh, every);
	document.addEventListener("visibilitychange", refresh);
})();
