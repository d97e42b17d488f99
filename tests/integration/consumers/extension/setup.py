"""A Python extension in C++, as a user of torch.utils.cpp_extension writes it."""

from setuptools import setup

from torch.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="smooth",
    version="1.0",
    ext_modules=[CppExtension("smooth", ["smooth.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
