"""The order of people in lists: by family name as it is looked up, É among E and ö among o, whatever order the database sorts letters in.

The one thing to know: the database's own order is that of code points where it has no other (the embedded one has none), and there Ó comes
after Z. So the letters are compared without their marks; letters that are no letter with a mark (Ø, Ł) keep their place after Z.
"""

from django.db.models import CharField, Func


class Looked(Func):
    """A name as it is looked up: small letters, without marks on them."""

    template = r"lower(regexp_replace(normalize(%(expressions)s, NFKD), '[\u0300-\u036f]', '', 'g'))"
    output_field = CharField()


def by_name(path: str = "") -> tuple[Looked | str, ...]:
    """Return what to order by; `path` leads to the person, as in `student__`."""
    family, first = f"{path}last_name", f"{path}first_name"
    return (Looked(family), Looked(first), family, first, f"{path}username", f"{path}id")
