-- Of the core bank's team: it lies in their repository and is applied by their deployment.
CREATE SCHEMA core;

CREATE TABLE core.account (
    account_id uuid PRIMARY KEY,
    iban text NOT NULL UNIQUE,
    holder text NOT NULL DEFAULT '',
    balance_cents bigint NOT NULL DEFAULT 0,
    number bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
    opened_at timestamptz NOT NULL DEFAULT now()
);
