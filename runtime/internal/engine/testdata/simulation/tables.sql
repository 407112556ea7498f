CREATE TABLE account (partition integer, id integer, sum integer NOT NULL, PRIMARY KEY (partition, id));
CREATE TABLE entry (partition integer NOT NULL, offs bigint NOT NULL, account integer NOT NULL, amount integer NOT NULL CHECK (amount < 1000));
