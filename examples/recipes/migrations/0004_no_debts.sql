-- By hand: no balance falls below zero. An event that would do that becomes a dead letter.
SET LOCAL lock_timeout = '2s';

ALTER TABLE balances ADD CONSTRAINT balances_cents_check CHECK (cents >= 0);
