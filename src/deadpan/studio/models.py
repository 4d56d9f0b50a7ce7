"""What the studio remembers. Judgments and events are only added to; the database refuses anything else."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.utils import timezone

OWNER, ANNOTATOR, ADJUDICATOR, PARTICIPANT = "owner", "annotator", "adjudicator", "participant"
ROLES = (OWNER, ANNOTATOR, ADJUDICATOR, PARTICIPANT)
APPLICANT, ACTIVE, REFUSED, WITHDRAWN = "applicant", "active", "refused", "withdrawn"
MAIN, QUALIFICATION, ATTENTION = "main", "qualification", "attention"
OPEN, DONE, RETURNED = "open", "done", "returned"


class AppendOnly(Exception):
    """Somebody tried to change what is only ever added to."""


class Added(models.Model):
    """A row that is written once. A trigger in the database says the same to whoever goes around this."""

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly(f"{type(self).__name__} {self.pk} is written: add another row")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> None:
        raise AppendOnly(f"{type(self).__name__} {self.pk} is never deleted")


class People(BaseUserManager):
    """Makes people. One without a password comes in by a link only."""

    def make(self, name: str, password: str | None = None, is_owner: bool = False) -> Any:
        person = self.model(name=name, is_owner=is_owner)
        person.set_password(password) if password else person.set_unusable_password()
        person.save(using=self._db)
        return person


class Person(AbstractBaseUser):
    """Somebody who can come in. The name is what they log in with; nothing else about them is here."""

    name = models.CharField(max_length=150, unique=True)
    is_owner = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)

    USERNAME_FIELD = "name"
    objects = People()


class Study(models.Model):
    """One study: a protocol, its items and the people in it."""

    slug = models.SlugField(max_length=60, unique=True)
    protocol = models.CharField(max_length=20)
    title = models.CharField(max_length=200)
    version = models.CharField(max_length=40)
    language = models.CharField(max_length=10)
    seed = models.BigIntegerField()
    raters_per_item = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)
    is_open = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now)


class Item(models.Model):
    """One thing people are asked about. `hidden` never goes to a browser. `taken` counts who has it."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="items")
    item_id = models.CharField(max_length=300)
    position = models.PositiveIntegerField()
    kind = models.CharField(max_length=13, default=MAIN)
    wanted = models.PositiveIntegerField()
    taken = models.PositiveIntegerField(default=0)
    context = models.JSONField(default=list)
    response = models.JSONField()
    options = models.JSONField(default=list)
    shown = models.JSONField(default=dict)
    hidden = models.JSONField(default=dict)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("study", "item_id"), name="one_item_an_id"),)
        indexes = (models.Index(fields=("study", "kind", "taken", "position"), name="items_to_give"),)


def pseudonym() -> str:
    """A name that says nothing."""
    return secrets.token_hex(4)


class Member(models.Model):
    """A person in a study, in one role. Others know them by the pseudonym, if at all."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="members")
    person = models.ForeignKey(Person, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=11)
    state = models.CharField(max_length=9, default=ACTIVE)
    pseudonym = models.CharField(max_length=40, default=pseudonym)
    joined_at = models.DateTimeField(default=timezone.now)
    consented_at = models.DateTimeField(null=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("study", "person"), name="one_membership_a_study"),
            models.UniqueConstraint(fields=("study", "pseudonym"), name="one_pseudonym_a_study"),
        )


class Identity(models.Model):
    """Who a member is, in a table of its own, so that it can be erased without touching the answers."""

    member = models.OneToOneField(Member, models.PROTECT, related_name="identity")
    crowd_id = models.CharField(max_length=120, blank=True)
    country = models.CharField(max_length=80, blank=True)
    gender = models.CharField(max_length=40, blank=True)
    consent_text = models.TextField(blank=True)
    withdrawal_hash = models.CharField(max_length=64, blank=True, db_index=True)


class Invite(models.Model):
    """A link that lets somebody in. Only the hash of its token is kept."""

    study = models.ForeignKey(Study, models.PROTECT, null=True, related_name="invites")
    token_hash = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=11)
    uses_left = models.PositiveIntegerField(default=1)
    expires_at = models.DateTimeField()
    created_at = models.DateTimeField(default=timezone.now)


class Assignment(models.Model):
    """An item in somebody's hands."""

    item = models.ForeignKey(Item, models.PROTECT, related_name="assignments")
    member = models.ForeignKey(Member, models.PROTECT, related_name="assignments")
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=8, default=OPEN)
    given_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "member"), name="an_item_once_a_member"),
            models.UniqueConstraint(fields=("member", "number"), name="numbered_by_member"),
        )
        indexes = (models.Index(fields=("state", "touched_at"), name="assignments_idle"),)


class Judgment(Added):
    """The journal: one person, one question, one answer. A change is another row; an empty answer takes
    the earlier one back. `key` is the browser's, so that a repeated save is known for one."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="judgments")
    item = models.ForeignKey(Item, models.PROTECT, related_name="judgments")
    member = models.ForeignKey(Member, models.PROTECT, related_name="judgments")
    question = models.CharField(max_length=60)
    answer = models.TextField(blank=True)
    seconds = models.FloatField(default=0.0)
    key = models.CharField(max_length=80)
    source = models.CharField(max_length=12, default="web")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("member", "key", "question"), name="one_save_a_key"),)
        indexes = (
            models.Index(fields=("member", "item", "id"), name="journal_of_an_item"),
            models.Index(fields=("study", "id"), name="journal_of_a_study"),
        )


class Submission(models.Model):
    """What a participant of a survey handed in. It is erased, not hidden, when they withdraw."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="submissions")
    member = models.ForeignKey(Member, models.PROTECT, related_name="submissions")
    key = models.CharField(max_length=80)
    answers = models.JSONField()
    reasons = models.JSONField(default=list)
    seconds = models.FloatField()
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("member", "key"), name="one_submission_a_key"),)


class Tombstone(Added):
    """Somebody withdrew: their pseudonym, so that every later release leaves them out."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="tombstones")
    pseudonym = models.CharField(max_length=40)
    created_at = models.DateTimeField(default=timezone.now)


class Event(Added):
    """The audit log: who did what to a study, beside the answers themselves."""

    study = models.ForeignKey(Study, models.PROTECT, null=True, related_name="events")
    actor = models.CharField(max_length=150)
    what = models.CharField(max_length=40)
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now)


class Attempt(models.Model):
    """A failed try to come in, by the hash of address and name; counted by the rate limit, then swept."""

    key = models.CharField(max_length=64, db_index=True)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
