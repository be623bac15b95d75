-- Let the application's role see the schema. It may not create anything in it.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
GRANT USAGE ON SCHEMA public TO {role};
