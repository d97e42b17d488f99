from setuptools import Extension, setup

setup(name="greet", version="1.2", ext_modules=[Extension("greet", ["greet.c"], libraries=["answer"])])
