-- Tell people of something. Who has not read the last of the same topic gets no second line: it is counted, and the latest words stand.
-- Locks: the unread lines, in order of recipient, so that two effects at once cannot wait for each other.
-- Index: one_unread_notification_per_topic.
-- Parameters: ids uuid[] and recipients uuid[] of one length, topic text, words text, address text, occurred_at timestamptz.
INSERT INTO gradebook_notification AS line (id, recipient_id, topic, text, address, count, occurred_at)
SELECT told.id, told.recipient_id, %(topic)s, %(words)s, %(address)s, 1, %(occurred_at)s
FROM unnest(%(ids)s::uuid[], %(recipients)s::uuid[]) AS told (id, recipient_id)
ORDER BY told.recipient_id
ON CONFLICT (recipient_id, topic) WHERE read_at IS NULL DO UPDATE
SET count = line.count + 1,
    text = CASE WHEN excluded.occurred_at >= line.occurred_at THEN excluded.text ELSE line.text END,
    address = CASE WHEN excluded.occurred_at >= line.occurred_at THEN excluded.address ELSE line.address END,
    occurred_at = GREATEST(line.occurred_at, excluded.occurred_at)
