-- Share a sheet's term until the transaction ends; then say how the term stands, whether this person may change marks in the sheet, and
-- who of these students is on it, with their names: a row a student, one without a student where there are none, no row without a sheet.
-- A function (migration 0010), because it is asked at every save: its plans are kept, and it reads after it has the lock.
-- The rules are those of `policies.sheets_editable_by` and `queries.list_students`, asked of one sheet and few people.
-- Locks: the term's advisory lock, shared, as share_terms.
-- Index: primary keys; assignments and enrolments by person; marks by student.
-- Parameters: namespace integer, term uuid, sheet uuid, by uuid, students uuid[].
SELECT * FROM gradebook_open_sheet(%(namespace)s, %(term)s, %(sheet)s, %(by)s, %(students)s::uuid[]);
