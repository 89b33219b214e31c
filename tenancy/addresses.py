"""Which network addresses are public: those of the internet at large, and none that only this machine could reach.

The lists are of the IANA special-purpose address registries (RFC 6890); they stand here, because what Python calls
global differs between its versions and holds multicast.
"""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",  # carrier-grade NAT (RFC 6598), and a cloud's metadata
            "127.0.0.0/8",
            "168.63.129.16/32",  # a cloud's host agent behind an address that looks public
            "169.254.0.0/16",  # link-local, and most clouds' metadata
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.0.2.0/24",
            "192.88.99.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",
        ),
    )
)
_GLOBAL_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments, Teredo among them
            "2001:db8::/32",
            "2002::/16",  # 6to4, which holds an IPv4 address
            "3fff::/20",
        ),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: how an IPv6-only network reaches IPv4


def is_public(address: str) -> bool:
    """Return whether an address, as text, is one of the internet at large; text that is none is not."""
    parsed = _parse(address)
    if parsed is None:
        return False
    if isinstance(parsed, IPv4Address):
        return not any(parsed in network for network in _NOT_PUBLIC_4)
    return parsed in _GLOBAL_UNICAST_6 and not any(parsed in network for network in _NOT_PUBLIC_6)


def is_loopback(address: str) -> bool:
    """Return whether an address, as text, is this machine's own."""
    parsed = _parse(address)
    return parsed is not None and parsed.is_loopback


def _parse(address: str) -> IPv4Address | IPv6Address | None:
    """Read an address; one that stands for an IPv4 address (mapped, NAT64) is read as that."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address):
        if parsed.scope_id is not None:
            return None
        if parsed.ipv4_mapped is not None:
            return parsed.ipv4_mapped
        if parsed in _NAT64:
            return IPv4Address(int(parsed) & 0xFFFF_FFFF)
    return parsed
