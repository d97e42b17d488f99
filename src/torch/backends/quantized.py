"""Arithmetic of quantized tensors: there is none here."""

from __future__ import annotations

engine = "none"
supported_engines = ["none"]
