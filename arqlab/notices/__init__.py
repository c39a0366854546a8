"""Notices in the application and by email, messages of organizers, and invitations."""
