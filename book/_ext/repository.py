"""The role `repository`: a link into the course's repository, at the address in `_config.yml`."""

from sphinx.application import Sphinx
from sphinx.config import Config


def link_to_repository(app: Sphinx, config: Config) -> None:
    """Let {repository}`words <path>` lead to a path below the repository's address."""
    address = config.html_theme_options["repository_url"].rstrip("/").removesuffix(".git")
    config.extlinks = {"repository": (f"{address}/%s", "%s")}


def setup(app: Sphinx) -> dict[str, bool]:
    """Sphinx calls this once."""
    app.setup_extension("sphinx.ext.extlinks")
    app.connect("config-inited", link_to_repository)
    return {"parallel_read_safe": True}
