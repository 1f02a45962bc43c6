"""Give an installation its first person: the owner, who is also its operator (spec 10.1)."""

from uuid import UUID

from allauth.account.models import EmailAddress
from django.db import transaction

from accounts.models import User


def install_owner(*, email: str, password: str) -> UUID:
    """Store an operator with this password and a verified address; a known one gets both again."""
    with transaction.atomic():
        user = User.objects.select_for_update().filter(email__iexact=email).first()
        if user is None:
            user = User.objects.create_superuser(email, password)
        user.is_active = user.is_staff = user.is_superuser = True
        user.set_password(password)
        user.save()
        EmailAddress.objects.update_or_create(
            user=user, email=user.email, defaults={"verified": True, "primary": True}
        )
    return user.id
