"""Every single privilege that a role has by grants to itself, as the catalogs of the server know them."""

import dataclasses

PRIVILEGES = """
WITH role AS (SELECT oid, quote_ident(rolname) AS name FROM pg_roles WHERE rolname = %(role)s),
acl AS (
    SELECT 'DATABASE ' || quote_ident(datname) AS object, '' AS column_name, a.*
        FROM pg_database, aclexplode(datacl) a WHERE datname = current_database()
    UNION ALL SELECT 'SCHEMA ' || quote_ident(nspname), '', a.* FROM pg_namespace, aclexplode(nspacl) a
    UNION ALL SELECT 'TABLE ' || c.oid::regclass, '', a.* FROM pg_class c, aclexplode(relacl) a
        WHERE relkind IN ('r', 'p', 'v')
    UNION ALL SELECT 'SEQUENCE ' || c.oid::regclass, '', a.* FROM pg_class c, aclexplode(relacl) a
        WHERE relkind = 'S'
    UNION ALL SELECT 'TABLE ' || attrelid::regclass, ' (' || quote_ident(attname) || ')', a.*
        FROM pg_attribute, aclexplode(attacl) a
    UNION ALL SELECT 'FUNCTION ' || p.oid::regprocedure, '', a.* FROM pg_proc p, aclexplode(proacl) a
    UNION ALL SELECT 'PARAMETER ' || parname, '', a.* FROM pg_parameter_acl, aclexplode(paracl) a
)
SELECT privilege_type || column_name || ' ON ' || object, role.name FROM acl JOIN role ON acl.grantee = role.oid
UNION ALL
SELECT m.roleid::regrole::text, role.name FROM pg_auth_members m JOIN role ON m.member = role.oid
ORDER BY 1
"""


@dataclasses.dataclass(frozen=True)
class Privilege:
    what: str  # as it stands between GRANT and TO
    role: str

    def grant(self):
        return f"GRANT {self.what} TO {self.role}"

    def revoke(self):
        return f"REVOKE {self.what} FROM {self.role}"


def privileges_of(cluster, role):
    rows = cluster.execute(PRIVILEGES.replace("%(role)s", f"'{role}'"))
    return [Privilege(*row) for row in rows]
