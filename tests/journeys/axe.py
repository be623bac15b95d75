"""axe-core on a page as it stands: what the rules of WCAG 2.2 AA and of good practice find against it.

The script comes with a package; it is put in through the debugger, past the page's content policy. Half of what matters to somebody who cannot
see or use a mouse no such tool finds: the order of the focus, what is read out when. The other journeys ask for that.
"""

from functools import cache
from importlib.resources import files
from typing import Any

from playwright.sync_api import Page

_ALL = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"],
    "rules": {"target-size": {"enabled": True}},  # off by itself, although of WCAG 2.2 AA
}
_OF_THE_LOOK = {
    "runOnly": {
        "type": "rule",
        "values": ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"],
    }
}
_BRIEFLY = {
    "resultTypes": ["violations"],
    "preload": False,  # every style sheet would be fetched again, for the one rule that reads them
}


@cache
def _read_script() -> str:
    return files("axe_playwright_python").joinpath("axe.min.js").read_text()


_DANGLING = """
["aria-describedby", "aria-labelledby", "aria-controls"].flatMap(name =>
    [...document.querySelectorAll(`[${name}]`)].flatMap(element =>
        element.getAttribute(name).split(/\\s+/).filter(id => id && !document.getElementById(id)).map(id => `${name}: no #${id}`)))
"""


def find_violations(page: Page) -> list[str]:
    """Return `rule: selector: why` for everything axe finds on the page, and what refers to something that is not there."""
    page.evaluate(_read_script())
    dangling: list[str] = page.evaluate(_DANGLING)  # axe only doubts these
    return _run(page, _ALL) + dangling


def find_violations_of_the_look(page: Page) -> list[str]:
    """The same for what may be otherwise in other colours or at another size, on a page that was asked about everything before."""
    return _run(page, _OF_THE_LOOK)


def _run(page: Page, rules: dict[str, Any]) -> list[str]:
    found = page.evaluate("rules => axe.run(document, rules)", rules | _BRIEFLY)
    return [_say(violation["id"], node) for violation in found["violations"] for node in violation["nodes"]]


def _say(rule: str, node: dict[str, Any]) -> str:
    why = " ".join(node["failureSummary"].split())
    return f"{rule}: {node['target'][-1]}: {why}"
