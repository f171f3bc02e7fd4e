"""Forms of a page as a browser without JavaScript would send them."""

from __future__ import annotations

from html.parser import HTMLParser


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[tuple[str, dict[str, list[str]]]] = []
        self._select = self._area = ""
        self._options: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {k: v or "" for k, v in attrs}
        if tag == "form":
            self.forms.append((given.get("action", ""), {}))
            return
        if not self.forms:
            return
        fields = self.forms[-1][1]
        if tag == "input" and given.get("name"):
            box = given.get("type") in ("checkbox", "radio")
            if given.get("type") != "file" and (not box or "checked" in given):
                fields.setdefault(given["name"], []).append(given.get("value", ""))
        elif tag == "select":
            self._select, self._options = given["name"], []
        elif tag == "option" and self._select:
            self._options.append((given.get("value", ""), "selected" in given))
        elif tag == "textarea" and given.get("name"):
            self._area = given["name"]
            fields[self._area] = [""]

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1][1][self._area][0] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "select" and self._select:
            chosen = [v for v, on in self._options if on] or [v for v, _ in self._options[:1]]
            self.forms[-1][1][self._select] = chosen
            self._select = ""
        elif tag == "textarea":
            self._area = ""


def form_of(text: str, action: str) -> dict[str, list[str]]:
    """The fields of the form with that action, as they stand."""
    found = _Forms()
    found.feed(text)
    forms = [fields for to, fields in found.forms if to == action]
    assert len(forms) == 1, (action, [to for to, _ in found.forms])
    return forms[0]
