// Keys, focus, and sending again when the server does not answer. The page works without it.
(() => {
  "use strict";
  const $ = (id) => document.getElementById(id);
  const AGAIN = 1500, BOUNCE = 150;
  let sending = false, off = false, lastKey = "", lastAt = -1e9, timer = 0;
  try { off = localStorage.getItem("fewgold-keys") === "off"; } catch { /* no storage: keys are on */ }

  const home = () => {
    const field = document.querySelector("#desk [data-home]");
    // A field that takes the focus opens the keyboard of a phone over the text.
    const fine = matchMedia("(pointer: fine)").matches;
    const place = field && (fine || field.tagName !== "INPUT" || $("trouble")) ? field : $("segment");
    if (!place) return;
    if (place === document.activeElement && place.value) return; // somebody types already
    place.focus({ preventScroll: true });
    if (place.tagName === "INPUT") place.select();
  };

  // From the top, or further down where context would push what is to be rated off the screen.
  const show = () => {
    const text = document.querySelector("#desk .torate"), bar = document.querySelector("#desk .bar");
    window.scrollTo(0, 0);
    if (!text || !bar) return;
    const place = text.getBoundingClientRect(), room = innerHeight - bar.offsetHeight - 8;
    if (place.bottom > room) window.scrollTo(0, Math.min(place.bottom - room, Math.max(place.top - 48, 0)));
  };

  const ready = () => {
    if ($("keys")) $("keys").checked = !off;
    const slider = $("slider"), score = $("score");
    if (slider && score) {
      slider.hidden = false;
      slider.addEventListener("input", () => { score.value = slider.value; });
      score.addEventListener("input", () => {
        const value = Number(score.value.replace(",", "."));
        if (score.value.trim() && Number.isFinite(value)) slider.value = value;
      });
    }
  };

  // Several criteria: one question after the other, and Enter when all have an answer.
  const questions = () => [...document.querySelectorAll("#desk [data-criterion]")];
  const answered = (q) => [...q.querySelectorAll("input")].some((i) => i.type === "radio" ? i.checked : i.value.trim());
  const enter = (q) => {
    const field = q && (q.querySelector("input:checked") || q.querySelector("input"));
    if (!field) { $("send").focus({ preventScroll: true }); return; }
    field.focus();
    if (field.type !== "radio") field.select();
  };
  const several = (event, key) => {
    const all = questions();
    if (!all.length) return false;
    const at = all.findIndex((q) => q.contains(document.activeElement));
    const open = all.find((q) => !answered(q)), now = at < 0 ? open : all[at];
    const field = now && now.querySelector("input");
    const writes = at >= 0 && field.type !== "radio";
    if (key === "Enter" && (at >= 0 || event.target === document.body || event.target.id === "segment")) {
      event.preventDefault();
      if (event.repeat || sending) return true;
      const next = writes && answered(now) ? all[at + 1] : null;
      if (next || open) enter(next || open); else $("send").click();
      return true;
    }
    if (key === "Backspace" && !(writes && field.value)) {
      event.preventDefault();
      enter(all[Math.max(0, (at < 0 ? all.length : at) - 1)]);
      return true;
    }
    if (writes || !now) return writes;
    const pressed = [...now.querySelectorAll("[data-answers]")].find((i) => i.dataset.answers.split(" ").includes(key));
    if (pressed) {
      event.preventDefault();
      if (event.repeat) return true;
      pressed.checked = true;
      enter(all[all.indexOf(now) + 1] || all.find((q) => !answered(q)));
      return true;
    }
    if (field.type !== "radio" && /^[-0-9.,]$/.test(key)) { enter(now); return true; }
    return false;
  };

  const busy = (on) => {
    sending = on;
    if ($("desk")) $("desk").setAttribute("aria-busy", String(on));
  };

  document.addEventListener("keydown", (event) => {
    const from = event.target, key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (!$("desk") || event.isComposing) return;
    if (from.id === "comment") {
      if (key === "Escape") { event.preventDefault(); home(); }
      if (key === "Enter" && (event.ctrlKey || event.metaKey) && $("send") && !sending) $("send").click();
      return;
    }
    if (off || event.ctrlKey || event.altKey || event.metaKey) return;
    if (several(event, key)) return;
    const button = [...document.querySelectorAll("#desk [data-keys]")].find((b) => b.dataset.keys.split(" ").includes(key));
    const press = button || { u: $("undo"), s: $("skip") }[key];
    if (press) {
      event.preventDefault();
      const bounced = key === lastKey && event.timeStamp - lastAt < BOUNCE;
      lastKey = key; lastAt = event.timeStamp;
      // A key that is held down or bounces would rate a segment that nobody has seen.
      if (!sending && !event.repeat && !bounced) press.click();
    } else if (key === "c" && $("comment")) {
      event.preventDefault();
      $("comment").focus();
    } else if (key === "?") {
      event.preventDefault();
      $("help").open = !$("help").open;
      if ($("help").open) $("help").querySelector("summary").focus(); else home();
    } else if ($("score") && from.id !== "score" && from.id !== "slider" && /^[-0-9.,]$/.test(key)) {
      $("score").value = "";
      $("score").focus();
    } else if (key === "Enter" && $("send") && (from === document.body || from.id === "segment" || from.id === "slider")) {
      event.preventDefault();
      if (!sending && !event.repeat) $("send").click();
    }
  });

  // Enter held down or pressed twice, and the second press of a double click, are no answers either.
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== lastKey.toLowerCase()) lastKey = ""; // another key came between
    if (event.key !== "Enter" || event.target.id !== "score") return;
    const bounced = lastKey === "Enter" && event.timeStamp - lastAt < BOUNCE;
    lastKey = "Enter"; lastAt = event.timeStamp;
    if (event.repeat || bounced || sending) event.preventDefault();
  }, true);
  document.addEventListener("click", (event) => {
    if (event.target.closest("#desk button") && (sending || event.detail > 1)) {
      event.preventDefault();
      event.stopPropagation();
    }
  }, true);
  document.addEventListener("change", (event) => {
    if (event.target.id !== "keys") return;
    off = !event.target.checked;
    try { localStorage.setItem("fewgold-keys", off ? "off" : "on"); } catch { /* for this page only */ }
  });

  const posted = (event) => event.detail.requestConfig.verb === "post";
  const again = (form, event) => {
    $("offline").hidden = false;
    clearTimeout(timer);
    timer = setTimeout(() => {
      sending = false;
      if (!form.isConnected) return;
      const pressed = event && event.submitter;
      form.requestSubmit(pressed && pressed.isConnected ? pressed : undefined);
    }, AGAIN);
  };
  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!posted(event)) return;
    if (sending) event.preventDefault(); else busy(true);
  });
  document.addEventListener("htmx:beforeSwap", (event) => {
    const status = event.detail.xhr.status;
    if (status === 400 && event.detail.xhr.responseText.includes('id="answer"')) {
      event.detail.shouldSwap = true;
      event.detail.isError = false;
    } else if (status >= 400 && status < 500) {
      location.reload(); // the link leads nowhere any more, or the campaign has changed
    } else if (status < 400) {
      $("offline").hidden = true;
    }
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!posted(event)) return;
    const status = event.detail.xhr ? event.detail.xhr.status : 0;
    const sent = event.detail.requestConfig.triggeringEvent;
    if (status === 0 || status >= 500) again(event.detail.requestConfig.elt, sent); else busy(false);
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target && event.detail.target.id !== "desk") return;
    ready();
    // Whoever waits keeps their place until there is something to rate.
    if (event.detail.requestConfig && event.detail.requestConfig.verb === "get" && !$("segment")) return;
    show();
    home();
  });
  ready();
  show();
  home();
})();
