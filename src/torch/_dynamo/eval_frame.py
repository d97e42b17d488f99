"""`OptimizedModule`: what `torch.compile` makes of a module."""

from __future__ import annotations

from typing import Any

import torch


class OptimizedModule(torch.nn.Module):
    """A module around another, `_orig_mod`, which is called, and whose attributes it shows and sets."""

    def __init__(self, mod: torch.nn.Module) -> None:
        super().__init__()
        self._modules["_orig_mod"] = mod
        del self.__dict__["training"]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._modules["_orig_mod"](*args, **kwargs)  # type: ignore[misc]

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module's own forward returns."""
        return self._modules["_orig_mod"].forward(*args, **kwargs)  # type: ignore[union-attr]

    def __getattr__(self, name: str) -> Any:
        module = self.__dict__["_modules"]["_orig_mod"]
        return module if name == "_orig_mod" else getattr(module, name)

    def __setattr__(self, name: str, value: Any) -> None:
        modules = self.__dict__.get("_modules", {})
        if "_orig_mod" not in modules:
            super().__setattr__(name, value)
        elif name == "_orig_mod":
            modules[name] = value
        else:
            setattr(modules["_orig_mod"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._modules["_orig_mod"], name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._modules["_orig_mod"])})

    def __len__(self) -> int:
        return len(self._modules["_orig_mod"])  # type: ignore[arg-type]

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, index: Any) -> Any:
        return self._modules["_orig_mod"][index]  # type: ignore[index]

    def __reduce__(self) -> Any:
        return OptimizedModule, (self._modules["_orig_mod"],)
