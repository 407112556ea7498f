-- By hand: no account falls below zero. A payment that would is a dead letter.
SET LOCAL lock_timeout = '2s';

ALTER TABLE accounts ADD CONSTRAINT accounts_cents_check CHECK (cents >= 0);
