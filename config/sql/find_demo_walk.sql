-- Is the demo school here, and can its walk still be walked? One row when its first student is; true while the exam is open.
-- Locks: none. Index: gradebook_user_username_key, exams_exam's of the school. Parameters: none.
SELECT EXISTS (
    SELECT FROM exams_exam AS exam
    WHERE exam.school_id = person.school_id
        AND exam.title = 'Mathematics midterm'
        AND now() BETWEEN exam.opens_at AND exam.closes_at
)
FROM gradebook_user AS person
WHERE person.username = 'student1';
