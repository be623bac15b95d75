-- Delete what counts nobody any more, so that the tables hold what a filling from the start would give.
-- Locks: none but the rows it deletes. Index: column_counts_empty_idx, score_counts_empty_idx, item_sums_empty_idx, which hold nothing else.
-- Parameters: none of its own.
WITH marks AS (
    DELETE FROM {projections_columncount} AS counted WHERE counted.number = 0
), scores AS (
    DELETE FROM {projections_scorecount} AS counted WHERE counted.number = 0
)
DELETE FROM {projections_itemsum} AS summed WHERE summed.number = 0
