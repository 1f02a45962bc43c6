"""How sign-up and sign-in behave: allauth's hooks."""

from allauth.account.adapter import DefaultAccountAdapter


class AccountAdapter(DefaultAccountAdapter):
    """Cairn's answers to allauth's questions."""
