-- By hand: movements are found by account.
SET LOCAL lock_timeout = '2s';

CREATE INDEX transfers_debtor_idx ON transfers (debtor);
CREATE INDEX transfers_creditor_idx ON transfers (creditor);
CREATE INDEX refused_transfers_debtor_idx ON refused_transfers (debtor);
CREATE INDEX captures_account_id_idx ON captures (account_id);
CREATE INDEX refunds_account_id_idx ON refunds (account_id);
