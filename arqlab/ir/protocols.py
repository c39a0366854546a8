from dataclasses import dataclass, replace


@dataclass(frozen=True)
class TaskProtocol:
    limit: int = 1000
    max_characters: int = 1200
    quota: int = 5
    order: str = "score"
    relevant_from: int = 2
    measures: tuple[str, ...] = ()

    def with_overrides(self, o):
        return replace(self, **o)


class _P:
    def task(self, kind):
        return TaskProtocol()


PROTOCOLS = {"arqmath-1": _P(), "arqmath-2": _P(), "arqmath-3": _P()}
