"""Who meets what, for every table of schema app: this table is the specification.

`allowed`: it works. `-`: nothing is found or changed, without an error, and the row is still there. `denied`: the
database refuses (42501). `insert` makes a row of the actor's own; `name` names the owner's org and user in it, where
the table has an org.
"""

# The worker is bound as the owner, as the stranger, and as nobody.
ACTORS = "owner teammate outsider lead reviewer admin stranger nobody worker worker_stranger worker_nobody"
MATRIX = """
alembic_version  read    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
alembic_version  insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
alembic_version  update  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
alembic_version  delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_details    read    allowed -        -        -       -        -       -        -       allowed -               -
audit_details    insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_details    name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_details    update  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_details    delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_events     read    allowed -        -        -       -        -       -        -       allowed -               -
audit_events     insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_events     name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_events     update  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
audit_events     delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
block_lines      read    allowed -        -        -       -        -       -        -       allowed -               -
block_lines      insert  allowed allowed  allowed  allowed allowed  allowed allowed  denied  allowed allowed         denied
block_lines      name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
block_lines      update  allowed -        -        -       -        -       -        -       allowed -               -
block_lines      delete  allowed -        -        -       -        -       -        -       allowed -               -
blocks           read    allowed -        -        -       -        -       -        -       allowed -               -
blocks           insert  allowed allowed  allowed  allowed allowed  allowed allowed  denied  allowed allowed         denied
blocks           name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
blocks           update  allowed -        -        -       -        -       -        -       allowed -               -
blocks           delete  allowed -        -        -       -        -       -        -       allowed -               -
clients          read    allowed allowed  allowed  allowed allowed  allowed -        -       allowed -               -
clients          insert  denied  denied   denied   denied  denied   allowed denied   denied   denied  denied          denied
clients          name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
clients          update  -       -        -        -       -        allowed -        -        denied  denied          denied
clients          delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
org_policies     read    allowed allowed  allowed  allowed allowed  allowed -        -        allowed -               -
org_policies     insert  denied  denied   denied   denied  denied   allowed denied   denied   denied  denied          denied
org_policies     name    denied  denied   denied   denied  denied   denied  denied   denied   denied  denied          denied
org_policies     update  -       -        -        -       -        allowed -        -        denied  denied          denied
org_policies     delete  denied  denied   denied   denied  denied   denied  denied   denied   denied  denied          denied
orgs             read    allowed allowed  allowed  allowed allowed  allowed -        -       allowed -               -
orgs             insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
orgs             name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
orgs             update  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
orgs             delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
providers        read    -       -        -        -       -        allowed -        -        denied  denied          denied
providers        insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
providers        name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
providers        update  -       -        -        -       -        allowed -        -        denied  denied          denied
providers        delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
token_audiences  read    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
token_audiences  insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
token_audiences  update  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
token_audiences  delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
users            read    allowed -        -        -       -        -       -        -       allowed -               -
users            insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
users            name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
users            update  allowed -        -        -       -        -       -        -       denied  denied          denied
users            delete  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
web_sessions     read    allowed -        -        -       -        -       -        -       denied  denied          denied
web_sessions     insert  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
web_sessions     name    denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
web_sessions     update  denied  denied   denied   denied  denied   denied  denied   denied  denied  denied          denied
web_sessions     delete  allowed -        -        -       -        -       -        -       denied  denied          denied
"""  # noqa: E501 - a table is read across

VERBS = ("read", "insert", "name", "update", "delete")


def expected(table: str) -> dict[str, list[str]]:
    """Return what the actors meet on a table, by verb."""
    lines = [line.split() for line in MATRIX.strip().splitlines()]
    return {verb: cells for name, verb, *cells in lines if name == table}
