-- By hand: amounts are positive. A record that says otherwise becomes a dead letter, with all that
-- it would have moved.
SET LOCAL lock_timeout = '2s';

ALTER TABLE transfers ADD CONSTRAINT transfers_cents_check CHECK (cents > 0);
ALTER TABLE refused_transfers ADD CONSTRAINT refused_transfers_cents_check CHECK (cents > 0);
ALTER TABLE interest ADD CONSTRAINT interest_cents_check CHECK (cents > 0);
ALTER TABLE captures ADD CONSTRAINT captures_cents_check CHECK (cents > 0);
ALTER TABLE refunds ADD CONSTRAINT refunds_cents_check CHECK (cents > 0);
