-- A horde-like kudos ledger: only what the demonstration touches, in our own words. There are no
-- foreign keys to users: a posting would lock its user's row, in no particular order, and deadlock
-- with the projector. Run as the role that owns the application's tables. The psql-style value
-- :users is replaced by deploy/quickstart.

CREATE TABLE users (
    id                bigint PRIMARY KEY,
    username          varchar(100) NOT NULL,
    kudos             numeric(20, 2) NOT NULL,
    evaluating_kudos  numeric(20, 2) NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

-- One counter per user and action. The action 'postings' counts how many postings went into a
-- balance, so that "exactly once" is checked by number as well as by sum.
CREATE TABLE user_stats (
    user_id   bigint NOT NULL,
    action    varchar(40) NOT NULL,
    quantity  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, action)
) WITH (fillfactor = 50);

-- Signed postings. In the mode 'shadow' a posting is written with applied = true and its writer
-- changes the balance in the same transaction; in the mode 'ledger' it is written with applied =
-- false and is folded into the balance later.
CREATE TABLE kudos_ledger (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id    uuid NOT NULL,
    entry_type  varchar(30) NOT NULL,
    user_id     bigint NOT NULL,
    escrow      boolean NOT NULL DEFAULT false,
    amount      numeric(20, 2) NOT NULL,
    applied     boolean NOT NULL,
    created_at  timestamp NOT NULL DEFAULT now()
);
CREATE INDEX kudos_ledger_unfolded ON kudos_ledger (id) WHERE NOT applied;

CREATE TABLE kudos_stat_events (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id     bigint NOT NULL,
    action      varchar(40) NOT NULL,
    created_at  timestamp NOT NULL DEFAULT now()
);

CREATE TABLE kudos_reservations (
    event_id    uuid PRIMARY KEY,
    user_id     bigint NOT NULL,
    amount      numeric(20, 2) NOT NULL CHECK (amount > 0)
);

-- The opening balances, which the final check starts from.
CREATE TABLE kudos_balance_snapshots (
    user_id   bigint PRIMARY KEY,
    kudos     numeric(20, 2) NOT NULL,
    taken_at  timestamp NOT NULL DEFAULT now()
);

-- Who folded how many postings: the projector in its own transactions, or the final fold of a
-- transition.
CREATE TABLE kudos_ledger_applier_state (
    applier  varchar(30) PRIMARY KEY,
    folded   bigint NOT NULL DEFAULT 0
);

-- The control row: the mode in force.
CREATE TABLE kudos_ledger_control (
    id          smallint PRIMARY KEY CHECK (id = 1),
    mode        varchar(20) NOT NULL CHECK (mode IN ('shadow', 'ledger')),
    changed_at  timestamp NOT NULL DEFAULT now()
);

INSERT INTO users (id, username, kudos)
SELECT n, 'user-' || n, 1000 FROM generate_series(1, :users) AS n;
INSERT INTO user_stats (user_id, action) SELECT id, 'postings' FROM users;
INSERT INTO kudos_balance_snapshots (user_id, kudos) SELECT id, kudos FROM users;
INSERT INTO kudos_ledger_applier_state (applier) VALUES ('projector'), ('final fold');
INSERT INTO kudos_ledger_control (id, mode) VALUES (1, 'shadow');
