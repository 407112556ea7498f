CREATE TABLE t (id integer PRIMARY KEY, v integer NOT NULL CHECK (v < 1000));
