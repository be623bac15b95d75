"""The access list entry that lets the server's account pass through a closed folder."""

from hypothesis import given
from hypothesis import strategies as st

from config.postgres.account import add_passage

USER_OBJ, USER, GROUP_OBJ, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
NO_ID = 0xFFFFFFFF
Acl = list[tuple[int, int, int]]


def in_order(acl: Acl) -> Acl:
    return sorted(acl, key=lambda entry: (entry[0], entry[2]))


bits = st.integers(0, 7)
plain_lists = st.builds(
    lambda u, g, o: [(USER_OBJ, u, NO_ID), (GROUP_OBJ, g, NO_ID), (OTHER, o, NO_ID)], bits, bits, bits
)
named_lists = st.builds(
    lambda plain, users, mask: in_order(
        [*plain, *((USER, p, i) for i, p in users.items()), (MASK, mask, NO_ID)]
    ),
    plain_lists,
    st.dictionaries(st.integers(1, 5), bits, min_size=1),
    bits,
)


def test_passage_of_a_private_folder_is_one_entry_and_its_mask() -> None:
    private = [(USER_OBJ, 7, NO_ID), (GROUP_OBJ, 0, NO_ID), (OTHER, 0, NO_ID)]
    assert add_passage(private, 999) == [
        (USER_OBJ, 7, NO_ID),
        (USER, 1, 999),
        (GROUP_OBJ, 0, NO_ID),
        (MASK, 1, NO_ID),
        (OTHER, 0, NO_ID),
    ]


def test_passage_keeps_what_the_account_already_had() -> None:
    assert (USER, 5, 3) in add_passage(
        [(USER_OBJ, 7, NO_ID), (USER, 4, 3), (GROUP_OBJ, 5, NO_ID), (MASK, 5, NO_ID), (OTHER, 0, NO_ID)], 3
    )


@given(st.one_of(plain_lists, named_lists), st.integers(1, 5))
def test_passage_changes_nobody_elses_entry(acl: Acl, uid: int) -> None:
    after = add_passage(acl, uid)
    others = [entry for entry in acl if entry[0] != MASK and (entry[0], entry[2]) != (USER, uid)]
    assert [entry for entry in after if entry[0] != MASK and (entry[0], entry[2]) != (USER, uid)] == others
    assert after == in_order(after)
    assert add_passage(after, uid) == after
