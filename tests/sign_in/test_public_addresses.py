"""Which addresses count as public: those of the internet at large, and nothing that stands for another."""

import pytest

from tenancy.addresses import is_loopback, is_public

PUBLIC = ["1.1.1.1", "93.184.215.14", "172.32.0.1", "192.167.255.255", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"]
NOT_PUBLIC = [
    "0.1.2.3", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "168.63.129.16",
    "169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.1.1",
    "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "fec0::1", "ff02::1",
    "2001::1", "2001:db8::1", "3fff::1", "100::1", "5f00::1", "4000::1",
]  # fmt: skip


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)
    assert not is_loopback(address)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_an_address_of_a_network_of_ones_own_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("inner", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.0.1", "100.64.0.1", "0.1.2.3"])
def test_an_ipv6_address_that_stands_for_such_an_ipv4_address_is_not_public_either(inner: str) -> None:
    """Mapped, compatible, NAT64 of both prefixes, 6to4 and Teredo."""
    high, low = (int(byte) for byte in inner.split(".")[:2]), (int(byte) for byte in inner.split(".")[2:])
    first, second = ("{:02x}{:02x}".format(*pair) for pair in (high, low))
    for address in (
        f"::ffff:{inner}",
        f"::ffff:{first}:{second}",
        f"::{inner}",
        f"64:ff9b::{inner}",
        f"64:ff9b:1::{inner}",
        f"2002:{first}:{second}::1",
        f"2001:0:{first}:{second}::1",
    ):
        assert not is_public(address), address


def test_an_ipv6_only_network_reaches_public_ipv4_addresses() -> None:
    assert is_public("64:ff9b::1.1.1.1")


@pytest.mark.parametrize("text", ["", "localhost", "1.1.1", "0x7f000001", "2130706433", "1.1.1.1/32", "::g", "\0"])
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public(text)
    assert not is_loopback(text)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
def test_loopback_is_known_as_such(address: str) -> None:
    assert is_loopback(address)
