"""The schema of a Python function, from its annotations."""

from torch._operator_schemas import infer_schema as infer_schema
