"""The user of a token or a session as JSON."""

from rest_framework import generics, serializers
from rest_framework.exceptions import NotAuthenticated

from arqlab.core.models import Membership, User


class RoleSerializer(serializers.Serializer[Membership]):
    """One role of the user in a lab."""

    lab = serializers.CharField(source="lab.slug")
    role = serializers.CharField()
    team = serializers.CharField(source="team.name", default=None, allow_null=True)


class MeSerializer(serializers.ModelSerializer[User]):
    """The user of a token, with the role in each lab."""

    roles = RoleSerializer(many=True, source="memberships")

    class Meta:
        model = User
        fields = ["username", "name", "email", "is_superuser", "roles"]


class MeApi(generics.RetrieveAPIView[User]):
    """Who the token signs in."""

    of_every_token = True
    serializer_class = MeSerializer

    def get_object(self) -> User:
        """Return the user; raise `NotAuthenticated` for a visitor."""
        if not isinstance(self.request.user, User):
            raise NotAuthenticated
        return self.request.user
