-- The notices that somebody has claimed, until when, and the receipt once there is one.
CREATE TABLE claims (
    key uuid PRIMARY KEY,
    until timestamptz NOT NULL,
    receipt text
);
