"""MkDocs calls these functions while it builds the guides (`bin/guides`).

They write the reference from the code, and move what the theme has inline into files: under
ArqLab's content security policy, pages run no inline script and apply no inline style.
"""

import re
from hashlib import sha256
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from reference import REFERENCES

ROOT = Path(__file__).resolve().parents[2]
ADDED = {
    "arqkit.md": "arqkit/README.md",
    "changelog.md": "CHANGELOG.md",
    "assets/icon.svg": "static/img/icon.svg",
    "assets/site.css": "docs/site/site.css",
    "assets/site.js": "docs/site/site.js",
}
"""Files of the site that are elsewhere in the repository."""
MARK = re.compile(r"^<!-- reference: ([a-z-]+) -->$", re.MULTILINE)
INLINE = re.compile(r"<(script|style)>(.*?)</\1>", re.DOTALL)
ASKED_OF_OTHERS = re.compile(
    r"""<(?:script|img|iframe|source|video)[^>]*\ssrc=["']?(?:https?:)?//"""
    r"""|<link[^>]*rel=["']?(?:stylesheet|icon|preload|preconnect)[^>]*href=["']?(?:https?:)?//"""
)
HANDLER = re.compile(r"<[^>]*\s(?:on[a-z]+|style)=")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files that are elsewhere in the repository."""
    for place, source in ADDED.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the reference in place of its marks, and link to the pages that were added."""
    for place, source in ADDED.items():
        markdown = markdown.replace(f"](../{source}", f"]({place}")
    if page.file.src_uri in ADDED:
        markdown = markdown.replace("](../docs/", "](").replace("](docs/", "](")
    return MARK.sub(lambda found: REFERENCES[found[1]](), markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Move inline scripts and styles into files. Refuse what the policy would not let through."""
    up = "../" * page.url.count("/")

    def moved(found: re.Match[str]) -> str:
        kind = "js" if found[1] == "script" else "css"
        name = f"assets/inline/{sha256(found[2].encode()).hexdigest()[:12]}.{kind}"
        target = Path(config.site_dir) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(found[2], encoding="utf-8")
        if kind == "js":
            return f'<script src="{up}{name}"></script>'
        return f'<link rel="stylesheet" href="{up}{name}">'

    output = INLINE.sub(moved, output)
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    output = output.replace("<th></th>", "<td></td>")  # a heading needs words
    for refused in (ASKED_OF_OTHERS, HANDLER):
        if found := refused.search(output):
            raise PluginError(f"{page.file.src_uri}: {found[0]} is not allowed in the guides.")
    return output


def on_post_build(config: MkDocsConfig) -> None:
    """Remove the theme's page of errors: ArqLab has its own."""
    (Path(config.site_dir) / "404.html").unlink()
