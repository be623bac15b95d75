-- Let no statement of this session take longer; where the role, the database or the address has its own bound, that one holds.
-- Locks: none. Index: none.
-- Parameters: limit, a time with its unit.
SELECT set_config('statement_timeout', %(limit)s, false) WHERE current_setting('statement_timeout') = '0';
