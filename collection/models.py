"""Collections, their posts and formulas, and the imports that filled them."""

from datetime import timedelta

from django.db import models
from django.db.models import F, Q

from arqkit.records import LONGEST_ID
from arqkit.texts.html.sanitizer import RULES, clean_comment, clean_title_and_body, lacks_ids
from arqlab.core.models import Job, Lab

NEVER_CLEANED = 0  # lower than any version of the rules

STALE_AFTER = timedelta(seconds=60)
"""An import without a heartbeat for this long counts as dead. A batch takes seconds."""


class Collection(models.Model):
    """A collection that one or more labs search, with Parquet files of its ids and formulas.

    `posts_index` has post_id, type and thread_id of the searched posts. `formulas_index` has one
    row per formula instance (columns: `arqkit.formats.formulas.index`). `slt_index` and `opt_index`
    have formula_id and mathml from the index files. `conversions` has the layout strings of LaTeX
    without MathML. All columns are strings. Runs are checked against these files, because 28
    million formulas are too many for rows in the database.
    """

    slug = models.SlugField(unique=True)
    is_complete = models.BooleanField(
        default=True,
        help_text="Whether the collection has all items. If not, runs may contain other items.",
    )
    licence = models.CharField(
        max_length=60,
        blank=True,
        help_text="SPDX identifier of the licence of the texts, such as CC-BY-SA-4.0.",
    )
    labs = models.ManyToManyField(Lab, through="LabCollection", related_name="collections")
    posts_index = models.FileField(upload_to="collections/", blank=True)
    formulas_index = models.FileField(upload_to="collections/", blank=True)
    slt_index = models.FileField(upload_to="collections/", blank=True)
    opt_index = models.FileField(upload_to="collections/", blank=True)
    conversions = models.FileField(upload_to="collections/", blank=True)
    source_sha256 = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the imported files."
    )
    loaded_at = models.DateTimeField()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug

    @property
    def may_be_passed_on(self) -> bool:
        """Return whether the licence lets everyone pass the texts on, as all of CC do."""
        return self.licence.upper().startswith(("CC-BY", "CC0"))


class LabCollection(models.Model):
    """The collection that a lab searches; a lab has at most one."""

    lab = models.OneToOneField(Lab, models.CASCADE)
    collection = models.ForeignKey(Collection, models.PROTECT)

    def __str__(self) -> str:
        return f"{self.lab} searches {self.collection}"


class Post(models.Model):
    """A question or an answer, with votes, owner and dates if the dump has them; or a document.

    A document (or paragraph) has a title and a text. It is in no thread: its `thread_id` is empty.
    """

    class Kind(models.TextChoices):
        """The kind of a post. Answers have no title; only answers and documents are judged."""

        QUESTION = "question", "Question"
        ANSWER = "answer", "Answer"
        DOCUMENT = "document", "Document"

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="posts", db_index=False)
    post_id = models.CharField(max_length=LONGEST_ID)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    thread_id = models.CharField(max_length=40, blank=True)
    is_searched = models.BooleanField(
        default=True,
        help_text="A post outside the date window is kept for topics and threads but not searched.",
    )
    title = models.TextField(blank=True)
    body = models.TextField()
    # Null means same as the source; empty means that nothing was left.
    clean_title = models.TextField(null=True)  # noqa: DJ001
    # Null means same as the source; empty means that nothing was left.
    clean_body = models.TextField(null=True)  # noqa: DJ001
    rules = models.PositiveSmallIntegerField(default=0)
    tags = models.JSONField(default=list, blank=True)
    score = models.IntegerField(null=True)
    up_votes = models.IntegerField(null=True)
    down_votes = models.IntegerField(null=True)
    views = models.IntegerField(null=True)
    accepted_id = models.CharField(max_length=40, blank=True)
    author_id = models.CharField(max_length=40, blank=True)
    author_name = models.CharField(
        max_length=200, blank=True, help_text="Name of the owner if the dump has no id for them."
    )
    created_at = models.DateTimeField(null=True)
    # HTML that a lab shows instead of the body, not sanitized; set by readers, never stored.
    corrected_body: str | None = None

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "post_id"], name="post_once_per_collection"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["question", "answer", "document"]), name="post_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["collection", "thread_id"], name="post_by_thread")]

    def __str__(self) -> str:
        return self.post_id

    @property
    def safe_title(self) -> str:
        """Return the title sanitized by the current rules, with formulas as spans of LaTeX."""
        if self.rules != RULES or (self.clean_title is None and lacks_ids(self.title)):
            return clean_title_and_body(self.title, "", post_id=self.post_id)[0].html
        return self.title if self.clean_title is None else self.clean_title

    @property
    def safe_body(self) -> str:
        """Return the body sanitized by the current rules, with formulas as spans of LaTeX."""
        if self.corrected_body is not None:
            title, corrected = self.title, self.corrected_body
            return clean_title_and_body(title, corrected, post_id=self.post_id)[1].html
        if self.rules != RULES or (self.clean_body is None and lacks_ids(self.body)):
            return clean_title_and_body(self.title, self.body, post_id=self.post_id)[1].html
        return self.body if self.clean_body is None else self.clean_body


class Comment(models.Model):
    """A comment on a post: one paragraph of inline HTML."""

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="comments", db_index=False
    )
    comment_id = models.CharField(max_length=40)
    post_id = models.CharField(max_length=40)
    text = models.TextField()
    # Null means same as the source; empty means that nothing was left.
    clean_text = models.TextField(null=True)  # noqa: DJ001
    rules = models.PositiveSmallIntegerField(default=0)
    score = models.IntegerField(null=True)
    author_id = models.CharField(max_length=40, blank=True)
    author_name = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "comment_id"], name="comment_once_per_collection"
            )
        ]
        indexes = [models.Index(fields=["collection", "post_id"], name="comment_by_post")]

    def __str__(self) -> str:
        return self.comment_id

    @property
    def safe_text(self) -> str:
        """Return the comment sanitized by the current rules."""
        if self.rules != RULES:
            return clean_comment(self.text, comment_id=self.comment_id).html
        return self.text if self.clean_text is None else self.clean_text


class PostLink(models.Model):
    """A link from one question to another: related, or marked as its duplicate."""

    class Kind(models.TextChoices):
        """The kind of a link: types 1 and 3 in the dump."""

        RELATED = "related", "Related"
        DUPLICATE = "duplicate", "Duplicate"

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="post_links", db_index=False
    )
    post_id = models.CharField(max_length=40)
    related_id = models.CharField(max_length=40)
    kind = models.CharField(max_length=10, choices=Kind.choices)
    created_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "post_id", "related_id", "kind"], name="post_linked_once"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["related", "duplicate"]), name="post_link_kind_known"
            ),
        ]
        indexes = [models.Index(fields=["collection", "related_id"], name="post_link_by_related")]

    def __str__(self) -> str:
        return f"{self.post_id} {self.kind} {self.related_id}"


class Author(models.Model):
    """A user of the site. Only public name, reputation and badges are stored from Users.xml."""

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="authors", db_index=False
    )
    author_id = models.CharField(max_length=40)
    name = models.CharField(max_length=200)
    reputation = models.IntegerField(null=True)
    gold = models.PositiveIntegerField(default=0)
    silver = models.PositiveIntegerField(default=0)
    bronze = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "author_id"], name="author_once_per_collection"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Tag(models.Model):
    """A tag of the site, with the dump's count of its questions."""

    collection = models.ForeignKey(
        Collection, models.CASCADE, related_name="known_tags", db_index=False
    )
    name = models.CharField(max_length=100)
    count = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["collection", "name"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "name"], name="tag_once_per_collection")
        ]

    def __str__(self) -> str:
        return self.name


class VisualMap(models.Model):
    """One version of a collection's visual ids. It never changes, and the newest one is used.

    The fields are Parquet files; `arqkit.formulas.visual_ids` describes their columns. `mapping`
    has formula_id and visual_id of every instance. `forms` has one row per visual id, `changes` one
    per instance whose id changed since the previous version, and `opinion` one per place where
    ArqLab would group the instances of given ids differently. `pairs` is the index of the forms by
    symbol pairs (`arqkit.formulas.similarity`), which is built later.
    """

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="visual_maps")
    version = models.PositiveSmallIntegerField()
    mapping = models.FileField(upload_to="collections/")
    forms = models.FileField(upload_to="collections/")
    changes = models.FileField(upload_to="collections/", blank=True)
    opinion = models.FileField(upload_to="collections/", blank=True)
    pairs = models.FileField(upload_to="collections/", blank=True)
    pairs_claimed_at = models.DateTimeField(
        null=True, help_text="When a process started to build the pairs."
    )
    inputs = models.CharField(
        max_length=64,
        blank=True,
        help_text="Digest of the columns from which the version was made.",
    )
    counts = models.JSONField(
        default=dict,
        help_text="Numbers of instances and formulas, and of ids assigned, merged and split.",
    )
    made_at = models.DateTimeField()

    class Meta:
        ordering = ["collection", "version"]
        constraints = [
            models.UniqueConstraint(
                fields=["collection", "version"], name="visual_map_version_once_per_collection"
            )
        ]

    def __str__(self) -> str:
        return f"{self.collection} visual ids {self.version}"


class PostWords(models.Model):
    """The normalized words of one post (`arqkit.texts.posts.text.words`), separated by spaces.

    `facets` are artificial words for the collection, the kind and the tags of the thread. On SQLite
    the FTS5 table `collection_postwords_index` reads these columns. On PostgreSQL the generated
    column `words` combines them.
    """

    post = models.OneToOneField(
        Post, models.DO_NOTHING, primary_key=True, db_constraint=False, related_name="words"
    )
    title = models.TextField(blank=True)
    body = models.TextField(blank=True)
    facets = models.TextField()

    def __str__(self) -> str:
        return f"The words of post {self.pk}"


class TextIndex(models.Model):
    """The state of a collection's text index, complete if `indexed` equals `changes`."""

    collection = models.OneToOneField(
        Collection, models.CASCADE, primary_key=True, related_name="text_index"
    )
    changes = models.BigIntegerField(default=0)
    indexed = models.BigIntegerField(default=-1)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(indexed__lte=F("changes")), name="text_index_not_ahead"
            )
        ]

    def __str__(self) -> str:
        return f"The words of {self.collection}"


class Import(Job):
    """The import of one file. It can resume after `rows`, the number of rows read and stored.

    A command or the job of a load runs it, and stops it if they end; no worker takes it over.
    """

    class Kind(models.TextChoices):
        """The files of a data dump, documents, and the representations of the formula index."""

        POSTS = "posts", "Posts"
        DOCUMENTS = "documents", "Documents"
        COMMENTS = "comments", "Comments"
        POST_LINKS = "post_links", "Post links"
        TAGS = "tags", "Tags"
        USERS = "users", "Users"
        VOTES = "votes", "Votes"
        BADGES = "badges", "Badges"
        LATEX = "latex", "Formulas in LaTeX"
        SLT = "slt", "Formulas as symbol layout trees"
        OPT = "opt", "Formulas as operator trees"

    collection = models.ForeignKey(Collection, models.CASCADE, related_name="imports")
    source = models.CharField(max_length=300, help_text="File name without its folder.")
    sha256 = models.CharField(
        max_length=64, help_text="SHA-256 of the kind, the file and the import's options."
    )
    rows = models.PositiveBigIntegerField(default=0, help_text="Rows read and stored so far.")
    kept = models.PositiveBigIntegerField(default=0)
    counts = models.JSONField(default=dict, help_text="Numbers of rows kept and skipped, by kind.")
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["collection", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["collection", "sha256"], name="source_imported_once")
        ]

    def __str__(self) -> str:
        return f"{self.source} into {self.collection}"

    @property
    def label(self) -> str:
        """Return the name of the import's kind for people."""
        return Import.Kind(self.kind).label
