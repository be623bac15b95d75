"""An accent can be stored in two ways (é, or e and a mark) that no eye tells apart: a file names what is here all the same."""

from decimal import Decimal
from unicodedata import normalize

from gradebook.imports.plans import Sheet, Wishes, plan_import
from gradebook.imports.texts import read_text
from gradebook.models import Column, User


def test_students_and_columns_are_found_however_their_accents_are_stored() -> None:
    student, column = User(username="jos\u00e9"), Column(title="R\u00e9daction", max_points=Decimal(20))
    file = normalize("NFD", "username,Rédaction\njosé,7\n").encode()
    assert "é".encode() not in file
    plan = plan_import(
        read_text(file), Sheet([column], {student.username: student}, {}), Wishes(".", "m.csv")
    )
    assert plan.faults == []
    assert [(each.student, each.column, each.new.text) for each in plan.changes] == [(student, column, "7")]
