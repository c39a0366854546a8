"""How browser tests judge: by keys, remembering what was said of which instance."""

# The benchmark of the next item imports this module before the models can be imported.
from django.apps import apps
from playwright.sync_api import Page, expect

TASK1, TASK2 = (
    "/labs/arqmath-x/tasks/task1/judge/A.282/",
    "/labs/arqmath-x/tasks/task2/judge/B.203/",
)
SMALL = "/labs/arqmath-x/tasks/task1/judge/A.1/"
SHOWN = ".judge-item.is-ready"  # painted: keys are meant for it
# The instances of the item that stands, and which of them is active.
STANDING = """() => {
  const id = (section) => Number(section.id.replace("instance-", ""));
  const sections = [...document.querySelectorAll(".judge-item.is-shown .judge-instance")];
  return [sections.map(id), sections.filter((each) => each.matches(".is-active")).map(id)];
}"""


def counting() -> dict[int, int]:
    """Return the labels that count, by instance."""
    judgments = apps.get_model("assessment", "Judgment").objects.filter(is_current=True)
    return {row.instance_id: row.label for row in judgments}


class Assessor:
    """Somebody at the keyboard. `said` is the last (label, comment) of each instance, `changed` the
    reasons of changes.
    """

    def __init__(self, page: Page) -> None:
        self.page = page
        self.said: dict[int, tuple[int, str]] = {}
        self.changed: dict[int, str] = {}

    def open(self, path: str) -> None:
        """Open a topic and wait until an item stands and those behind it have come."""
        self.page.goto(path)
        expect(self.page.locator(SHOWN)).to_have_count(1)
        self.page.wait_for_load_state("networkidle")

    def reload(self) -> None:
        """Load the page anew."""
        self.page.wait_for_load_state("networkidle")
        self.open(self.page.url)

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    @property
    def standing(self) -> list[int]:
        """Return the instances of the item that stands."""
        return self.page.evaluate(STANDING)[0]

    @property
    def active(self) -> int:
        """Return the instance that a key would label."""
        [active] = self.page.evaluate(STANDING)[1]
        return int(active)

    def judge(self, *labels: int, comment: str = "") -> None:
        """Label the item that stands, its instances in turn, and submit; the comment goes to the
        last instance.
        """
        # After a skip, as after an Enter: keys pressed before the next item is painted do nothing.
        expect(self.page.locator(SHOWN)).to_have_count(1)
        before, labels = self.standing, labels * len(self.standing)
        for label in labels[: len(before)]:
            self.said[self.active] = (label, "")
            self.press(str(label))
        if comment:
            self.said[self.active] = (self.said[self.active][0], comment)
            self.press("c")
            self.page.keyboard.type(comment)
        self.press("Enter")
        expect(self.page.locator(SHOWN)).to_have_count(1)
        assert self.standing != before

    def change(self, label: int, reason: str) -> None:
        """Change the label of the item shown, type the reason, and submit."""
        expect(self.page.locator(SHOWN)).to_have_count(1)
        self.said[self.active] = (label, self.said[self.active][1])
        self.changed[self.active] = reason
        self.press(str(label))
        self.page.keyboard.type(reason)
        self.press("Enter")

    def expect_saved(self) -> None:
        """Wait until nothing waits to be sent, and the page says so."""
        saved = self.page.locator(".judge-saved[data-waiting='0']:not(.is-away)")
        expect(saved).to_contain_text("saved", timeout=40_000)
