-- Let the application's role ask how far the standbys are. What runs in a table's default or trigger needs no such right.
-- Locks: none worth naming. Index: none. Parameters: {role}, the role's name.
GRANT EXECUTE ON FUNCTION outbox_standbys(text[]), outbox_standby_lag() TO {role};
