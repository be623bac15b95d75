-- The columns of a table's primary key, in order, and those whose content does not follow from the row that is written
-- (identity, generated, numbered by a sequence): of a projection, two fillings could not be compared by them.
-- Locks: none.
-- Index: the catalogue's own.
-- Parameters: table text.
SELECT
    ARRAY(
        SELECT attribute.attname::text
        FROM pg_index AS key
        CROSS JOIN LATERAL unnest(key.indkey::smallint[]) WITH ORDINALITY AS part (number, place)
        JOIN pg_attribute AS attribute ON attribute.attrelid = key.indrelid AND attribute.attnum = part.number
        WHERE key.indrelid = %(table)s::regclass AND key.indisprimary
        ORDER BY part.place),
    ARRAY(
        SELECT attribute.attname::text
        FROM pg_attribute AS attribute
        LEFT JOIN pg_attrdef AS fallback
            ON fallback.adrelid = attribute.attrelid AND fallback.adnum = attribute.attnum
        WHERE attribute.attrelid = %(table)s::regclass AND attribute.attnum > 0 AND NOT attribute.attisdropped
          AND (attribute.attidentity <> '' OR attribute.attgenerated <> ''
               OR pg_get_expr(fallback.adbin, fallback.adrelid) LIKE 'nextval(%%')
        ORDER BY attribute.attnum)
