#!/bin/sh
# Run once by the postgres image: tables, roles, passwords.
set -eu
sed 's/:users/60/' /srv/quickstart.d/schema.sql | psql -v ON_ERROR_STOP=1 -d horde
psql -d horde -f /srv/sql/control-role.sql
psql -d horde -f /srv/sql/app-role.sql
psql -v ON_ERROR_STOP=1 -d horde -f /srv/quickstart.d/operator.sql
psql -v ON_ERROR_STOP=1 -d horde -c "ALTER ROLE gate_operator PASSWORD 'gate'" -c "ALTER ROLE horde_app PASSWORD 'app'"
