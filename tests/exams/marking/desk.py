"""The page of one exam to mark, in a test's words."""

import html
import re
from typing import Any

from django.test import Client

from exams.models import Exam, Submission
from gradebook.models import User
from tests.exams.marking.essays import essays_of


class Desk:
    """One exam's page, as a browser without scripts has it."""

    def __init__(self, client: Client, exam: Exam, person: User) -> None:
        client.force_login(person)
        self.client = client
        self.path = f"/exams/marking/{exam.pk}/"
        self.question, self.second = essays_of(exam)

    def open(self, question: str | None = None, **query: Any) -> str:
        response = self.client.get(self.path, {"question": question or self.question, **query})
        assert response.status_code == 200
        return response.content.decode()

    def fields(self, page: str) -> dict[str, str]:
        """Every field of the page's form with its value."""
        inputs = re.findall(r"<input [^>]*>", page)
        named = {re.search(r'name="([^"]*)"', each): re.search(r'value="([^"]*)"', each) for each in inputs}
        return {name[1]: html.unescape(value[1]) for name, value in named.items() if name and value}

    def save(self, page: str, typed: dict[Submission, str], **headers: Any) -> Any:
        """Send the form of a page with these points typed into it."""
        fields = self.fields(page) | {f"points-{each.pk}": text for each, text in typed.items()}
        return self.client.post(f"{self.path}?question={self.question}&page=1", fields, **headers)
