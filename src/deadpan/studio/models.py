"""Tables of the studio. Judgments, events and tombstones are append-only; triggers enforce it."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    """The part somebody plays in a study."""

    OWNER = "owner", _("owner")
    ANNOTATOR = "annotator", _("annotator")
    ADJUDICATOR = "adjudicator", _("adjudicator")
    PARTICIPANT = "participant", _("participant")


class MemberState(models.TextChoices):
    """State of somebody in a study. Nobody is `withdrawn` for long: people who withdraw are erased."""

    APPLICANT = "applicant", _("applicant")
    ACTIVE = "active", _("active")
    REFUSED = "refused", _("refused")
    REMOVED = "removed", _("removed")
    WITHDRAWN = "withdrawn", _("withdrawn")


class ItemKind(models.TextChoices):
    """Items to label, those of the qualification round, and attention checks."""

    MAIN = "main"
    QUALIFICATION = "qualification"
    ATTENTION = "attention"


class AssignmentState(models.TextChoices):
    """An assigned item is in progress, answered, back in the pool, or skipped with a reason."""

    OPEN = "open"
    DONE = "done"
    RETURNED = "returned"
    SKIPPED = "skipped"


OWNER, ANNOTATOR, ADJUDICATOR, PARTICIPANT = ROLES = tuple(Role.values)
INVITED = (ANNOTATOR, ADJUDICATOR, PARTICIPANT, OWNER)
"""Roles in the order in which a leader invites people; an owner of a study leads it too."""
APPLICANT, ACTIVE, REFUSED, REMOVED, WITHDRAWN = MemberState.values
MAIN, QUALIFICATION, ATTENTION = ItemKind.values
OPEN, DONE, RETURNED, SKIPPED = AssignmentState.values


class AppendOnly(Exception):
    """An attempt to change or delete an append-only row."""


class AppendOnlyModel(models.Model):
    """A row that is written once. A trigger in the database enforces it as well."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        # The trigger would refuse it too; this says it in Python, before the database is asked.
        if not self._state.adding:
            raise AppendOnly(f"{type(self).__name__} {self.pk} is written: add another row")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> None:
        raise AppendOnly(f"{type(self).__name__} {self.pk} is never deleted")


class PersonManager(BaseUserManager):
    """Creates people. A person without a password can come in by a link only."""

    def make(self, name: str, password: str | None = None, is_owner: bool = False) -> Any:
        person = self.model(name=name, is_owner=is_owner)
        person.set_password(password) if password else person.set_unusable_password()
        person.save(using=self._db)
        return person


class Person(AbstractBaseUser):
    """An account: the name to log in with, and nothing else about the person."""

    name = models.CharField(max_length=150, unique=True)
    is_owner = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    USERNAME_FIELD = "name"
    objects = PersonManager()


class StoredStudy(models.Model):
    """One study: a protocol, its items and the people in it."""

    slug = models.SlugField(max_length=60, unique=True)
    protocol = models.CharField(max_length=20)
    title = models.CharField(max_length=200)
    version = models.CharField(max_length=40)
    language = models.CharField(max_length=10)
    seed = models.BigIntegerField()
    cases_upto = models.BigIntegerField(default=0)
    raters_per_item = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)
    is_draft = models.BooleanField(default=False)
    is_open = models.BooleanField(default=True)
    is_closed = models.BooleanField(default=False)
    main_items = models.PositiveIntegerField(default=0)
    round_items = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "studio_study"

    @property
    def stage(self) -> str:
        """Return draft, open, paused or closed."""
        if self.is_draft:
            return "draft"
        return "closed" if self.is_closed else "open" if self.is_open else "paused"


class StoredItem(models.Model):
    """One item. `hidden` never leaves the server; `taken` counts who has it, `finished` who answered it.

    Nobody gets two items of one `family`, such as both twins of a pair; `language` is for people who read it.
    """

    study = models.ForeignKey(StoredStudy, models.PROTECT, related_name="items")
    item_id = models.CharField(max_length=300)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=13, default=MAIN, choices=ItemKind)
    wanted = models.PositiveIntegerField()
    taken = models.PositiveIntegerField(default=0)
    finished = models.PositiveIntegerField(default=0)
    family = models.CharField(max_length=300, blank=True, default="")
    language = models.CharField(max_length=10, blank=True, default="")
    context = models.JSONField(default=list)
    response = models.JSONField()
    options = models.JSONField(default=list)
    shown = models.JSONField(default=dict)
    hidden = models.JSONField(default=dict)

    class Meta:
        db_table = "studio_item"
        constraints = (models.UniqueConstraint(fields=("study", "item_id"), name="one_item_an_id"),)
        indexes = (
            models.Index(
                fields=("study", "kind", "-taken", "position"),
                condition=models.Q(taken__lt=models.F("wanted")),
                name="items_still_wanted",
            ),
            models.Index(fields=("study", "kind", "position"), name="items_in_order"),
            models.Index(fields=("study", "family"), name="items_of_a_family"),
        )


def pseudonym() -> str:
    """Return a random name."""
    return secrets.token_hex(4)


class Member(models.Model):
    """A person in a study, in one role. Exports and adjudicators see the pseudonym only.

    `done`, `round_done`, `checks` and `seconds` add up the member's work, so that no page counts the journal.
    `page_seconds` is time on pages without answers: consent, guideline, items read and left. Time before
    `counted_until` is counted already, so that claims that overlap count once; `claimed_seconds` adds up what
    the browser claimed, whatever was counted of it.
    """

    study = models.ForeignKey(StoredStudy, models.PROTECT, related_name="members")
    person = models.ForeignKey(Person, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=11, choices=Role)
    state = models.CharField(max_length=9, default=ACTIVE, choices=MemberState)
    pseudonym = models.CharField(max_length=40, default=pseudonym)
    group = models.CharField(max_length=40, blank=True, default="")
    language = models.CharField(max_length=10, blank=True, default="")
    invite = models.ForeignKey("Invite", models.SET_NULL, null=True, related_name="members")
    joined_at = models.DateTimeField(default=timezone.now)
    consented_at = models.DateTimeField(null=True)
    counted_until = models.DateTimeField(null=True)
    done = models.PositiveIntegerField(default=0)
    round_done = models.PositiveIntegerField(default=0)
    checks = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    page_seconds = models.FloatField(default=0.0)
    claimed_seconds = models.FloatField(default=0.0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("study", "person"), name="one_membership_a_study"),
            models.UniqueConstraint(fields=("study", "pseudonym"), name="one_pseudonym_a_study"),
        )


class Identity(models.Model):
    """Personal data of a member, in a table of its own so that it can be erased without the answers."""

    member = models.OneToOneField(Member, models.PROTECT, related_name="identity")
    crowd_id = models.CharField(max_length=120, blank=True, db_index=True)
    platform = models.JSONField(default=dict)
    country = models.CharField(max_length=80, blank=True)
    gender = models.CharField(max_length=40, blank=True)
    facts = models.JSONField(default=dict)
    consent_text = models.TextField(blank=True)
    consent_version = models.PositiveIntegerField(null=True)
    withdrawal_hash = models.CharField(max_length=64, blank=True, db_index=True)


class StoredConsent(models.Model):
    """A version of what people agree to, word for word. It holds nothing about anybody and is never changed."""

    study = models.ForeignKey(StoredStudy, models.PROTECT, related_name="consents")
    number = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "studio_consent"
        constraints = (models.UniqueConstraint(fields=("study", "number"), name="one_consent_a_number"),)


class Invite(models.Model):
    """A link that lets somebody in. Only the hash of its token is stored."""

    study = models.ForeignKey(StoredStudy, models.PROTECT, null=True, related_name="invites")
    token_hash = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=11, choices=Role)
    uses = models.PositiveIntegerField(default=1)
    uses_left = models.PositiveIntegerField(default=1)
    group = models.CharField(max_length=40, blank=True, default="")
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    def usable(self, now: datetime) -> bool:
        """Return whether it still lets people in."""
        return self.uses_left > 0 and self.expires_at > now and self.revoked_at is None


class Assignment(models.Model):
    """An item that is assigned to a member."""

    item = models.ForeignKey(StoredItem, models.PROTECT, related_name="assignments")
    member = models.ForeignKey(Member, models.PROTECT, related_name="assignments")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, default=OPEN, choices=AssignmentState)
    reason = models.CharField(max_length=300, blank=True, default="")
    flag = models.CharField(max_length=300, blank=True, default="")
    given_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "member"), name="an_item_once_a_member"),
            models.UniqueConstraint(fields=("member", "number"), name="numbered_by_member"),
        )
        indexes = (models.Index(fields=("state", "touched_at"), name="assignments_idle"),)


class StoredImport(models.Model):
    """A file of labels made elsewhere that was added to a study; it can be removed as a whole."""

    study = models.ForeignKey(StoredStudy, models.PROTECT, related_name="imports")
    file = models.CharField(max_length=200, blank=True)
    actor = models.CharField(max_length=150)
    rows = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "studio_import"


class StoredJudgment(AppendOnlyModel):
    """One row of the journal: one person, one question, one answer.

    A changed answer is another row, and an empty one clears the earlier. `key` comes from the browser: a save
    that is repeated with the same key is recognised. A row is deleted only if its member has a tombstone or
    its import was removed; the trigger checks it.
    """

    study = models.ForeignKey(StoredStudy, models.PROTECT, related_name="judgments")
    item = models.ForeignKey(StoredItem, models.PROTECT, related_name="judgments")
    member = models.ForeignKey(Member, models.PROTECT, related_name="judgments")
    question = models.CharField(max_length=60)
    answer = models.TextField(blank=True)
    seconds = models.FloatField(default=0.0)
    key = models.CharField(max_length=80)
    source = models.CharField(max_length=12, default="web")
    note = models.TextField(blank=True, default="")
    batch = models.ForeignKey(StoredImport, models.PROTECT, null=True, related_name="judgments")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "studio_judgment"
        constraints = (models.UniqueConstraint(fields=("member", "key", "question"), name="one_save_a_key"),)
        indexes = (
            models.Index(fields=("member", "item", "id"), name="journal_of_an_item"),
            models.Index(fields=("study", "id"), name="journal_of_a_study"),
        )


class StoredSubmission(models.Model):
    """A submission to a survey. It is erased when the participant withdraws."""

    study = models.ForeignKey(StoredStudy, models.PROTECT, related_name="submissions")
    member = models.ForeignKey(Member, models.PROTECT, related_name="submissions")
    key = models.CharField(max_length=80)
    answers = models.JSONField()
    reasons = models.JSONField(default=list)
    seconds = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "studio_submission"
        constraints = (models.UniqueConstraint(fields=("member", "key"), name="one_submission_a_key"),)


class Tombstone(AppendOnlyModel):
    """All that is kept of somebody who withdrew: a pseudonym nobody can resolve, and the work to be paid."""

    study = models.ForeignKey(StoredStudy, models.PROTECT, related_name="tombstones")
    pseudonym = models.CharField(max_length=40)
    role = models.CharField(max_length=11, blank=True, default="", choices=Role)
    judgments = models.PositiveIntegerField(default=0)
    submissions = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0.0)
    created_at = models.DateTimeField(default=timezone.now)


class Event(AppendOnlyModel):
    """The audit log: who did what to a study, apart from answering."""

    study = models.ForeignKey(StoredStudy, models.PROTECT, null=True, related_name="events")
    actor = models.CharField(max_length=150)
    what = models.CharField(max_length=40)
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)


class StoredFigures(models.Model):
    """The figures of a dashboard as they were computed last, and whether somebody looks at them now."""

    study = models.ForeignKey(StoredStudy, models.CASCADE, related_name="figures")
    language = models.CharField(max_length=10)
    stamp = models.CharField(max_length=64)
    page = models.TextField()
    seconds = models.FloatField(default=0.0)
    computed_at = models.DateTimeField(default=timezone.now)
    wanted_at = models.DateTimeField(default=timezone.now)

    class Meta:
        db_table = "studio_figures"
        constraints = (models.UniqueConstraint(fields=("study", "language"), name="figures_a_language"),)


class StoredOpinion(models.Model):
    """The answer of a model to one question about one item, beside the people. It is never a vote."""

    study = models.ForeignKey(StoredStudy, models.CASCADE, related_name="opinions")
    item = models.ForeignKey(StoredItem, models.CASCADE, related_name="opinions")
    model = models.CharField(max_length=100)
    question = models.CharField(max_length=60)
    answer = models.TextField()
    score = models.FloatField(null=True)

    class Meta:
        db_table = "studio_opinion"
        constraints = (models.UniqueConstraint(fields=("item", "model", "question"), name="one_opinion_a_model"),)


class StoredCase(models.Model):
    """A disagreement: an item and a question with different answers. Kept up to date from the journal.

    `place` sorts the list: the share of the commonest answer, less one where a model says something else.
    """

    study = models.ForeignKey(StoredStudy, models.CASCADE, related_name="cases")
    item = models.ForeignKey(StoredItem, models.CASCADE, related_name="cases")
    question = models.CharField(max_length=60)
    counts = models.JSONField()
    place = models.FloatField()
    model = models.TextField(blank=True, default="")
    decided = models.TextField(blank=True, default="")

    class Meta:
        db_table = "studio_case"
        constraints = (models.UniqueConstraint(fields=("item", "question"), name="a_case_once"),)
        indexes = (models.Index(fields=("study", "decided", "place", "item"), name="cases_to_decide"),)


class Attempt(models.Model):
    """A failed login, by the hash of address or name; counted by the rate limit, then deleted."""

    key = models.CharField(max_length=64, db_index=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
