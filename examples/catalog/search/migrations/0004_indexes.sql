-- By hand: products are found by keyword.
SET LOCAL lock_timeout = '2s';

CREATE INDEX keywords_keyword_idx ON keywords (keyword);
