-- Let the application's role empty what it can fill again from the log: the tables of its projections.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name; {tables}, their names.
GRANT TRUNCATE ON {tables} TO {role};
