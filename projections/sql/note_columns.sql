-- Keep what the columns that changed in a batch say of themselves now; an older change than the one that is kept is passed over. One that
-- was removed is kept without a title, so that an older change does not bring it back.
-- Locks: none but the rows it writes; the consumer's own row is locked by the caller, so nobody else writes here.
-- Index: outbox_eventposition_pkey for the range, outbox_event_pkey for each event, projections_analyticscolumn_pkey.
-- Parameters: first and last bigint; listed bigint[], the positions, or NULL for all from first to last;
--   first_seq and last_seq bigint, between which their events lie, or NULL for a few events.
INSERT INTO {projections_analyticscolumn} AS kept (column_id, sheet_id, pos, title, max_points)
SELECT DISTINCT ON (event.subject)
       (event.payload ->> 'column_id')::uuid, (event.payload ->> 'sheet_id')::uuid, position.pos,
       COALESCE(event.payload -> 'new' ->> 'title', ''), COALESCE((event.payload -> 'new' ->> 'max_points')::numeric, 0)
FROM outbox_eventposition AS position
JOIN outbox_event AS event ON event.seq = position.seq
WHERE position.pos BETWEEN %(first)s AND %(last)s
  AND (%(listed)s::bigint[] IS NULL OR position.pos = ANY (%(listed)s::bigint[]))
  AND (%(first_seq)s::bigint IS NULL OR event.seq BETWEEN %(first_seq)s AND %(last_seq)s)
  AND event.kind IN ('ColumnChanged', 'ColumnRemoved')
ORDER BY event.subject, position.pos DESC
ON CONFLICT (column_id) DO UPDATE
    SET sheet_id = excluded.sheet_id, pos = excluded.pos, title = excluded.title, max_points = excluded.max_points
    WHERE kept.pos < excluded.pos
