-- Is the demo school here? One row when its first student is.
-- Locks: none. Index: gradebook_user_username_key. Parameters: none.
SELECT 1 FROM gradebook_user WHERE username = 'student1';
