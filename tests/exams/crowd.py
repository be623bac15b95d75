"""A table full of others, so that the planner has a reason to use the indexes it will use in a real school."""

from typing import Any

from django.db import connection

from exams.models import Attempt

STUDENTS, EXAMS, OLDER_JOBS = 400, 5, 20_000

_PEOPLE = """
    INSERT INTO gradebook_user
        (id, username, password, first_name, last_name, email, is_superuser, is_staff, is_active, date_joined, role, school_id)
    SELECT gen_random_uuid(), 'crowd-' || number, '', '', '', '', false, false, true, now(), 'student', %(school)s
    FROM generate_series(1, %(students)s) AS number
"""
_EXAMS = """
    INSERT INTO exams_exam
        (id, school_id, course_id, period_id, title, opens_at, closes_at, grace_seconds, late_seconds, attempts_allowed,
         counting_attempt, created_at)
    SELECT gen_random_uuid(), exam.school_id, exam.course_id, exam.period_id, 'crowd-' || number, exam.opens_at, exam.closes_at,
           0, 0, 1, 'best', now()
    FROM exams_exam AS exam, generate_series(1, %(exams)s) AS number
    WHERE exam.id = %(exam)s
"""
_ATTEMPTS = """
    INSERT INTO exams_attempt
        (id, school_id, exam_id, revision_id, student_id, number, state, started_at, closes_at, grace_until, accepts_until,
         deadline_rule, failure_reason, version)
    SELECT gen_random_uuid(), person.school_id, exam.id, %(revision)s, person.id, 1,
           (ARRAY['open', 'open', 'submitted', 'graded'])[1 + abs(hashtext(exam.id::text || person.id)) %% 4],
           now(), now() + '1 hour', now() + '1 hour', now() + '1 hour', '', '', 1
    FROM gradebook_user AS person, exams_exam AS exam
    WHERE person.username LIKE 'crowd-%%' AND exam.title LIKE 'crowd-%%'
"""
_DRAFTS = """
    INSERT INTO exams_draft (attempt_id, answers, token, saved_at)
    SELECT id, '{}', gen_random_uuid(), now() FROM exams_attempt WHERE state = 'open' ON CONFLICT DO NOTHING
"""
_SUBMISSIONS = """
    INSERT INTO exams_submission
        (id, school_id, exam_id, attempt_id, student_id, revision_id, exam_revision, attempt_key, answers, payload_sha256,
         accepted_at, deadline, decision, decision_rule, origin, receipt_key_id, event_id)
    SELECT gen_random_uuid(), school_id, exam_id, id, student_id, revision_id, 1, '', '{}', '', now(), closes_at, 'on_time', '',
           'student', '', gen_random_uuid()
    FROM exams_attempt WHERE state IN ('submitted', 'graded') ON CONFLICT DO NOTHING
"""
_RESULTS = """
    INSERT INTO exams_result
        (submission_id, school_id, exam_id, attempt_id, state, score, max_points, breakdown, reason, version, graded_at)
    SELECT submission.id, submission.school_id, submission.exam_id, attempt.id, 'graded', 1, 1, '{}'::jsonb, '', 1, now()
    FROM exams_submission AS submission JOIN exams_attempt AS attempt ON attempt.id = submission.attempt_id
    WHERE attempt.state = 'graded' ON CONFLICT DO NOTHING
"""
_JOBS = """
    INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id, lane, priority)
    SELECT submission.school_id, submission.exam_id, gen_random_uuid(), 'grade', submission.id, 0, 0
    FROM exams_submission AS submission JOIN exams_attempt AS attempt ON attempt.id = submission.attempt_id
    WHERE attempt.state = 'submitted' ON CONFLICT DO NOTHING
"""
_OLDER_JOBS = """
    INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id, lane, priority)
    SELECT %(school)s, %(exam)s, gen_random_uuid(), 'grade', gen_random_uuid(), 0, 0
    FROM generate_series(1, %(older_jobs)s)
"""
_DEAD_LETTERS = """
    INSERT INTO outbox_deadletter
        (tenant_id, group_id, job_id, kind, subject_id, lane, priority, cause, error_class, error_detail, tries, lost_leases,
         history, replayed_at)
    SELECT school_id, exam_id, gen_random_uuid(), 'grade', id, 0, 0, 'defect', '', '', 1, 0, '[]', now()
    FROM exams_submission
"""
_ANALYZE = """
    ANALYZE gradebook_user, exams_exam, exams_attempt, exams_draft, exams_submission, exams_result, exams_examrevision, outbox_job,
            outbox_deadletter
"""


def gather(attempt: Attempt) -> None:
    """Add 400 students who sit five exams like this attempt's, some still open, some waiting to be graded, behind 20,000 others."""
    parameters: dict[str, Any] = {
        "school": attempt.school_id,
        "exam": attempt.exam_id,
        "revision": attempt.revision_id,
        "students": STUDENTS,
        "exams": EXAMS,
        "older_jobs": OLDER_JOBS,
    }
    with connection.cursor() as cursor:
        for statement in (
            _PEOPLE,
            _EXAMS,
            _ATTEMPTS,
            _DRAFTS,
            _SUBMISSIONS,
            _RESULTS,
            _JOBS,
            _OLDER_JOBS,
            _DEAD_LETTERS,
            _ANALYZE,
        ):
            cursor.execute(statement, parameters)
