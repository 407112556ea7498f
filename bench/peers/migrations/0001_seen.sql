-- The keys of the records that took effect. seen_at lets a job forget those that are over.
CREATE TABLE seen (
    key uuid PRIMARY KEY,
    seen_at timestamptz NOT NULL DEFAULT now()
);
