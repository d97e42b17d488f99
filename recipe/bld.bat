@echo off
rem Builds one output, chosen by PKG_NAME, from the sources in SRC_DIR into LIBRARY_PREFIX.
rem One label per output; libtorch-cuda and pytorch-gpu are not built on Windows (see meta.yaml).
setlocal enabledelayedexpansion
set CUDA_PATH=
set PYTHONPATH=
set "BUILD_DIR=%SRC_DIR%\build-%PKG_NAME%"
if exist "%BUILD_DIR%" rmdir /s /q "%BUILD_DIR%"
if exist "%SRC_DIR%\build" rmdir /s /q "%SRC_DIR%\build"

rem Compiles go through sccache where the recipe's environment has it.
set LAUNCHERS=
set "SCCACHE=%BUILD_PREFIX%\Library\bin\sccache.exe"
if not exist "%SCCACHE%" set "SCCACHE=%BUILD_PREFIX%\bin\sccache.exe"
rem CMake takes a backslash for the beginning of an escape.
if exist "%SCCACHE%" set "LAUNCHERS=-DCMAKE_C_COMPILER_LAUNCHER=%SCCACHE:\=/% -DCMAKE_CXX_COMPILER_LAUNCHER=%SCCACHE:\=/%"

if "%PKG_NAME%"=="libtorch" goto libtorch
if "%PKG_NAME%"=="pytorch" goto pytorch
rem torch-split, the recipe's top level: nothing to do.
exit /b 0

:libtorch
rem As in build.sh: no variant key is named here, so that only libtorch is built once per BLAS.
set BLAS=OpenBLAS
if exist "%LIBRARY_INC%\mkl.h" set BLAS=MKL
call :build "-DTORCH_BUILD_CORE=ON -DTORCH_BUILD_PYTHON=OFF -DTORCH_BLAS=%BLAS%"
exit /b %errorlevel%

:pytorch
call :build "-DTORCH_BUILD_CORE=OFF -DTORCH_BUILD_PYTHON=ON -DPython_EXECUTABLE=%PYTHON%"
exit /b %errorlevel%

:build
cmake %CMAKE_ARGS% -G Ninja -S "%SRC_DIR%" -B "%BUILD_DIR%" -DCMAKE_BUILD_TYPE=Release ^
  -DCMAKE_INSTALL_PREFIX="%LIBRARY_PREFIX%" -DCMAKE_PREFIX_PATH="%LIBRARY_PREFIX%" ^
  -DTORCH_BUILD_CUDA=OFF -DTORCH_BUILD_TESTS=OFF -DTORCH_BUILD_VERSION=%PKG_VERSION% ^
  -DPython3_EXECUTABLE="%BUILD_PREFIX%\python.exe" %LAUNCHERS% %~1
if errorlevel 1 exit /b 1
cmake --build "%BUILD_DIR%" --parallel %CPU_COUNT%
if errorlevel 1 exit /b 1
cmake --install "%BUILD_DIR%"
exit /b %errorlevel%
