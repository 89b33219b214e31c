"""The pages of identity providers: connecting one, what can be done to one, and its claim rules."""

from admin.identity.pages import claim_rules, connecting, provider

doors = (connecting.doors, provider.doors, claim_rules.doors)
