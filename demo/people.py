"""The two organisations of the demo and the people in them, as their identity provider knows them."""

from dataclasses import dataclass


class UnknownPersonError(LookupError):
    """No person of the demo has this login name; the message lists the names there are."""


@dataclass(frozen=True, slots=True)
class Org:
    """A tenant: `slug` stands in addresses, `display_name` on pages."""

    slug: str
    display_name: str

    @property
    def mail_domain(self) -> str:
        """The domain of its people's addresses, under the reserved name `example` (RFC 2606)."""
        return f"{self.slug}.example"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who can sign in.

    `subject` is what identifies them to an application: it never changes and says nothing about them, so
    that an application that keys on the login name or the address shows itself.
    """

    login_name: str
    subject: str
    display_name: str
    org: Org
    teams: tuple[str, ...] = ()
    led_teams: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()

    @property
    def email(self) -> str:
        """The person's address, which the provider vouches for (`email_verified`)."""
        return f"{self.login_name}@{self.org.mail_domain}"

    @property
    def claimed_roles(self) -> tuple[str, ...]:
        """The roles as tokens carry them: those of the org, and `lead:TEAM` for each team led."""
        return (*self.roles, *(f"lead:{team}" for team in self.led_teams))


ACME = Org("acme", "Acme")
BIRCH = Org("birch", "Birch")
ORGS = (ACME, BIRCH)

# Both orgs have a team of this name on purpose: nothing may be shared because two names are the same.
_OPERATIONS = ("Operations",)

PEOPLE = (
    Person("member", "acme-7bd475ddadc8c74049e5", "Mina Okafor", ACME, _OPERATIONS),
    Person("colleague", "acme-4ce3aae7dedb5757a480", "Jonas Weber", ACME, _OPERATIONS),
    Person("lead", "acme-b07862700b99a45db7a4", "Priya Nair", ACME, _OPERATIONS, _OPERATIONS),
    Person("outsider", "acme-880be5f8f49a26edb8bb", "Tom Lindqvist", ACME, ("Research",)),
    Person("reviewer", "acme-956d65716d808624c729", "Rosa Delgado", ACME, roles=("reviewer",)),
    Person("admin", "acme-5bb58f196f4ef2de4232", "Kenji Mori", ACME, roles=("admin",)),
    Person("stranger", "birch-7a9910810aac91e985dc", "Sara Haddad", BIRCH, _OPERATIONS),
    Person("stranger-lead", "birch-cd1c8f9f1c3f01b337e5", "Leo Marchetti", BIRCH, _OPERATIONS, _OPERATIONS),
    Person("stranger-reviewer", "birch-320201fa187aa5bd38a9", "Ines Costa", BIRCH, roles=("reviewer",)),
    Person("stranger-admin", "birch-4af2965d0eeac7c340af", "Viktor Horvat", BIRCH, roles=("admin",)),
)


def people_of(org: Org) -> tuple[Person, ...]:
    """List the people of one org, in the order of `PEOPLE`."""
    return tuple(person for person in PEOPLE if person.org == org)


def find_person(login_name: str) -> Person:
    """Find a person by login name, which is unique over both orgs.

    Raises UnknownPersonError.
    """
    for person in PEOPLE:
        if person.login_name == login_name:
            return person
    names = ", ".join(person.login_name for person in PEOPLE)
    raise UnknownPersonError(f"The demo has no person named {login_name!r}. It has: {names}.")
