from django.apps import AppConfig


class CoreConfig(AppConfig):
    name = "arqlab.core"
    label = "core"
