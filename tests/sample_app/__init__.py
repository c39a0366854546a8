"""The smallest optional app with a tab, a page, a job and an export, for tests.test_new_app."""
