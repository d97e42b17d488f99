"""The part that pyproject.toml cannot say: a module in C++, compiled and linked as torch says."""

from setuptools import setup

from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    ext_modules=[CppExtension("softsum._softsum", ["softsum.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
