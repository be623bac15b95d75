-- Give the gate's session its settings. A statement, not the startup parameter `options`, which PgBouncer refuses.
-- Locks: none. Index: none.
-- Parameters: settings jsonb, an object of names and values.
SELECT set_config(setting.key, setting.value, false)
FROM jsonb_each_text(%(settings)s::jsonb) AS setting
